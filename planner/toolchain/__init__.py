"""The tools beside Python: found or built once for a user, and the shell that runs them."""
