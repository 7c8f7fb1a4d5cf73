"""Recognition of supersteps in event logs of jobs that do not declare them."""
