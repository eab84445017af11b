# Sourced with $root, the clone. `packages production` and `packages development` make node_modules what
# package-lock.json says and set $bun. They write nothing where it is so already: a read-only clone will do.

# The install script of the package bun moves the binary out of the platform's package; where install scripts
# are off, it is still there.
find_bun() {
  for bun in "$root"/node_modules/@oven/bun-*/bin/bun "$root"/node_modules/bun/bin/bun.exe; do
    [ ! -x "$bun" ] || return 0
  done
  return 1
}

# npm records what it installed. Each package of the lock file must be there in its version, but for the optional
# ones (of other platforms, above all) and, in production, those for development.
in_step() {
  installed=$root/node_modules/.package-lock.json
  [ -s "$installed" ] && find_bun && awk -v purpose="$1" '
    /^    "node_modules\// { name = $1 }
    /^      "version":/ { sub(/,$/, "", $2); if (NR == FNR) has[name] = $2; else wanted[name] = $2 }
    NR == FNR { next }
    /^      "(optional|devOptional)": true/ { delete wanted[name] }
    /^      "dev": true/ && purpose == "production" { delete wanted[name] }
    END { for (name in wanted) if (has[name] != wanted[name]) exit 1 }
  ' "$installed" "$root/package-lock.json"
}

# Native add-ons build against the headers that came with Node, without fetching them.
find_node_headers() {
  case $(npm config get nodedir 2>/dev/null) in '' | undefined | null) ;; *) return ;; esac
  for prefix in "$(node -p 'path.dirname(path.dirname(process.execPath))')" /usr /usr/local; do
    if [ -f "$prefix/include/node/node.h" ]; then
      export npm_config_nodedir="$prefix"
      return
    fi
  done
}

install_packages() {
  cd "$root" || return
  if [ -L node_modules ]; then
    echo "postern: the packages in $root/node_modules are not those of package-lock.json, and it is a link: they are left alone"
    return 1
  fi
  # Where somebody develops, what that takes stays.
  ! grep -qs '"dev": true' node_modules/.package-lock.json || set -- development
  if command -v npm >/dev/null; then
    find_node_headers
    # A clone that is worked on keeps its packages for development, whoever installs.
    if [ "$1" = production ] && [ ! -d node_modules/@biomejs ]; then dev=--omit=dev; else dev=--include=dev; fi
    npm ci "$dev" --no-audit --no-fund
  elif command -v bun >/dev/null; then
    case $1 in production) set -- --production ;; *) set -- ;; esac
    rm -rf node_modules && bun install --no-save "$@" && cp package-lock.json node_modules/.package-lock.json
  else
    echo 'postern: neither npm nor bun is on this machine; one of them is needed to install the packages'
    return 1
  fi
}

# Of several that find the lock of process $1 dead, one removes it, and only if it is still that one.
break_lock() {
  mkdir "$lock.dead" 2>/dev/null || return 0
  [ "$(readlink "$lock")" != "$1" ] || rm -f "$lock"
  rmdir "$lock.dead"
}

# One start installs, the others wait for it. The lock is a link to the number of the process that holds it: made at once with
# what it says, by one only.
packages() {
  in_step "$1" && return
  if [ ! -w "$root" ]; then
    echo "postern: the packages in $root/node_modules are not those of package-lock.json, and cannot be installed: no write access" >&2
    return 1
  fi
  # Not the directory that earlier versions made: a link to be made there would be made in it.
  lock=$root/.installing.lock
  waited=0
  until ln -s $$ "$lock" 2>/dev/null; do
    if holder=$(readlink "$lock"); then kill -0 "$holder" 2>/dev/null || break_lock "$holder"; fi
    waited=$((waited + 1))
    if [ "$waited" -gt 900 ]; then
      echo "postern: another start has been installing packages for 15 minutes; if there is none, remove $lock and $lock.dead" >&2
      return 1
    fi
    sleep 1
  done
  # In this shell, not in a subshell: a signal waits until npm has ended, and only then frees the lock.
  trap 'rm -f "$lock"' EXIT
  trap 'exit 130' HUP INT TERM
  if ! in_step "$1"; then
    echo 'postern: installing packages' >&2
    (install_packages "$1" >&2 </dev/null) || return
  fi
  rm -f "$lock"
  trap - EXIT HUP INT TERM
  find_bun
}
