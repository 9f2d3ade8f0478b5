#!/bin/busybox sh
# as-nobody COMMAND ARGUMENT..: runs it as a user with no rights, and ends as it does.
exec su -s /bin/sh -c 'exec "$@"' -- nobody sh "$@"
