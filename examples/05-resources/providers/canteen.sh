#!/usr/bin/env bash
# A provider reads URIs of its own scheme: the URI is $1, what is printed is the content.
# Exit code 3: there is no such resource. 4: this is not a URI that can be read.
case ${1#canteen://} in
menu) cat "$MCPBASH_PROJECT_ROOT/resources/menu.json" ;;
*) exit 3 ;;
esac
