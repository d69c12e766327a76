"""Every await of the gateway: listener, connection driver, upstream, cancellation."""
