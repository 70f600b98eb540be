"""Models over HTTP: a service for programs and a page for people."""
