"""What lies in a project's folders."""
