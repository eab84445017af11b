# Sourced with $root, the clone. `packages production` and `packages development` make node_modules match
# package-lock.json and set $bun. If it matches already, they write nothing, so a read-only clone works.

# The install script of the package bun moves the binary out of the platform package. If install scripts are
# disabled, the binary is still in the platform package.
find_bun() {
  for bun in "$root"/node_modules/@oven/bun-*/bin/bun "$root"/node_modules/bun/bin/bun.exe; do
    [ ! -x "$bun" ] || return 0
  done
  return 1
}

# npm records the installed packages. Each package of the lock file must be installed in its version, except for
# optional packages (mostly of other platforms) and, in production, development packages.
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

# Lets native add-ons build against the headers installed with Node, so that node-gyp does not download them.
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
    echo "postern: $root/node_modules does not match package-lock.json, but is a symbolic link: not installing packages"
    return 1
  fi
  # If development packages are installed, keep them.
  ! grep -qs '"dev": true' node_modules/.package-lock.json || set -- development
  if command -v npm >/dev/null; then
    find_node_headers
    # A clone used for development keeps its development packages, also when `postern` installs.
    if [ "$1" = production ] && [ ! -d node_modules/@biomejs ]; then dev=--omit=dev; else dev=--include=dev; fi
    npm ci "$dev" --no-audit --no-fund
  elif command -v bun >/dev/null; then
    case $1 in production) set -- --production ;; *) set -- ;; esac
    rm -rf node_modules && bun install --no-save "$@" && cp package-lock.json node_modules/.package-lock.json
  else
    echo 'postern: cannot install packages: neither npm nor bun is installed'
    return 1
  fi
}

# Removes the lock of the dead process $1. If several processes try, one of them removes it, and only if it is still the same lock.
break_lock() {
  mkdir "$lock.dead" 2>/dev/null || return 0
  [ "$(readlink "$lock")" != "$1" ] || rm -f "$lock"
  rmdir "$lock.dead"
}

# A release has the file RELEASE: "postern VERSION MACHINE COMMIT". It contains its packages and Bun, so nothing is installed.
release() {
  read -r _ _ machine _ <"$root/RELEASE"
  if [ "$machine" != "$(uname -m)" ]; then
    echo "postern: this release is for $machine, but this machine is $(uname -m): unpack the archive for $(uname -m)" >&2
    return 1
  fi
  find_bun && return
  echo "postern: $root is incomplete: Bun is missing; unpack the archive again" >&2
  return 1
}

# One process installs, the others wait. The lock is a symbolic link to the process id of its holder: creating a link with
# its content is atomic.
packages() {
  if [ -f "$root/RELEASE" ]; then
    release
    return
  fi
  in_step "$1" && return
  if [ ! -w "$root" ]; then
    echo "postern: $root/node_modules does not match package-lock.json, and $root is not writable: cannot install packages" >&2
    return 1
  fi
  # Not the name used by earlier versions: it was a directory, and `ln` would create the link inside that directory.
  lock=$root/.installing.lock
  waited=0
  until ln -s $$ "$lock" 2>/dev/null; do
    if holder=$(readlink "$lock"); then kill -0 "$holder" 2>/dev/null || break_lock "$holder"; fi
    waited=$((waited + 1))
    if [ "$waited" -gt 900 ]; then
      echo "postern: another start has been installing packages for 15 minutes; if no such process exists, remove $lock and $lock.dead" >&2
      return 1
    fi
    sleep 1
  done
  # The traps are set in this shell, not in a subshell: a signal is handled, and the lock released, only after npm has ended.
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
