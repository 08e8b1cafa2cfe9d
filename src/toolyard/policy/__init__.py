"""May this caller do this?"""
