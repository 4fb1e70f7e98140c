#!/bin/sh
# Does nothing, ends by no signal that can be ignored, and has children that do the same, one of them in
# a separate session. All have the first argument in their command lines.
trap '' TERM HUP INT QUIT
sleep "$1" &
if command -v setsid >/dev/null; then setsid sh -c 'while :; do sleep "$0"; done' "$1" & fi
while :; do sleep "$1"; done
