#!/bin/sh
# What `harbor:` asks of docker, without isolation: an image is the folder of its Dockerfile, a container a folder,
# whose paths replace those of the task in commands and scripts. Called with the folder of its files first.
set -eu
state=$1 verb=$2
shift 2

in_container() {
  root=$state/containers/$1
}

moved() {
  sed -E "s#(^|[^A-Za-z0-9_./-])/(app|tests|logs)#\1$root/\2#g"
}

# Flags before the first other word: the name of a container, and lines of variables.
variables=
take_flags() {
  taken=0
  while [ $# -gt 0 ]; do
    case $1 in
      --detach | --init) taken=$((taken + 1)); shift; continue ;;
      --name) name=$2 ;;
      --workdir) workdir=$2 ;;
      --env)
        case $2 in
          *=*) variables="$variables$2
" ;;
          *) variables="$variables$2=$(printenv "$2")
" ;;
        esac
        ;;
      --*) ;;
      *) return ;;
    esac
    taken=$((taken + 2))
    shift 2
  done
}

case $verb in
  info) ;;
  build)
    if grep '^RUN ' "$3/Dockerfile" >&2; then exit 1; fi
    printf '%s' "$3" > "$state/$2"
    ;;
  run)
    take_flags "$@"
    shift "$taken"
    context=$(cat "$state/$1")
    workdir=${workdir:-$(sed -n 's/^WORKDIR //p' "$context/Dockerfile")}
    in_container "$name"
    mkdir -p "$root$workdir"
    sed -n 's/^COPY //p' "$context/Dockerfile" | while read -r from to; do
      cp -R "$context/$from" "$root$workdir/$to"
    done
    { sed -n 's/^ENV //p' "$context/Dockerfile"; printf '%s' "$variables"; } > "$state/$name.env"
    printf '%s' "$workdir" > "$state/$name.workdir"
    ;;
  exec)
    take_flags "$@"
    shift "$taken"
    name=$1
    shift
    in_container "$name"
    workdir=$(cat "$state/$name.workdir")
    if [ "$1" = pwd ]; then echo "$workdir"; exit; fi
    if [ "$1" = timeout ]; then shift 4; fi
    for word; do
      shift
      set -- "$@" "$(printf '%s\n' "$word" | moved)"
    done
    printf '%s' "$variables" | cat "$state/$name.env" - > "$state/$name.env.now"
    while read -r line; do set -- "$line" "$@"; done < "$state/$name.env.now"
    cd "$root$workdir"
    exec env -i "PATH=$PATH" "HOME=$root$workdir" "$@"
    ;;
  cp)
    in_container "${2%%:*}"
    target=$root${2#*:}
    mkdir -p "$target"
    cp -R "$1" "$target"
    find "$target" -name '*.sh' | while read -r script; do
      moved < "$script" > "$state/script"
      cat "$state/script" > "$script"
    done
    ;;
  rm)
    in_container "$2"
    rm -r "$root"
    ;;
esac
