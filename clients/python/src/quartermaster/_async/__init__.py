"""The client."""
