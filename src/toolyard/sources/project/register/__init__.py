"""What a project registers by hand: register.json and register.sh."""
