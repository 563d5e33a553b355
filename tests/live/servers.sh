#!/usr/bin/env bash
# Starts or stops the real servers that conform.py and generate.py talk to, all on 127.0.0.1 and free ports.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: servers.sh start|stop|ports [--dir DIR] [--mariadb N] [--install]

  --dir DIR    data, logs and the list of ports (DIR/PORTS); default ${TMPDIR:-/tmp}/oncecheck-live
  --mariadb N  that many MariaDB servers with defaults; the generator runs one case at a time on each; default 1
  --install    install Debian's packages first (needs root)
TEXT
}

die() { echo "servers.sh: $*" >&2 && exit 2; }

action=${1:-}
case $action in
  start | stop | ports) shift ;;
  -h | --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac
dir=${TMPDIR:-/tmp}/oncecheck-live
count=1
install=0
while [[ $# -gt 0 ]]; do
  case $1 in
    --dir) dir=${2:?--dir needs a folder} && shift 2 ;;
    --mariadb) count=${2:?--mariadb needs a number} && shift 2 ;;
    --install) install=1 && shift ;;
    *) usage >&2 && die "unknown option $1" ;;
  esac
done

pg_bin=/usr/lib/postgresql/15/bin

# Both servers refuse to run as root: there they run as the users of their packages.
as() {
  local user=$1
  shift
  if [[ $EUID -eq 0 ]]; then runuser -u "$user" -- "$@"; else "$@"; fi
}

own_folder() { # user path
  mkdir -p "$2"
  chmod 700 "$2"
  if [[ $EUID -eq 0 ]]; then chown "$1" "$2"; fi
}

free_port() {
  /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

alive() { # pid file, program
  [[ -s $1 ]] && [[ $(cat "/proc/$(head -1 "$1")/comm" 2>/dev/null) == "$2" ]]
}

start_postgres() {
  local data=$dir/postgres port
  if alive "$data/postmaster.pid" postgres; then return; fi
  if [[ ! -s $data/PG_VERSION ]]; then
    own_folder postgres "$data"
    as postgres "$pg_bin/initdb" -D "$data" -A trust -U postgres -E UTF8 --locale=C >"$dir/run/initdb.log"
    # fsync: nobody cuts the power here. Autovacuum would move the horizon in the middle of a case.
    cat >>"$data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
deadlock_timeout = 100ms
timezone = 'UTC'
log_timezone = 'UTC'
autovacuum = off
fsync = off
CONF
  fi
  port=$(free_port)
  as postgres "$pg_bin/pg_ctl" -D "$data" -o "-p $port" -w -l "$dir/run/postgres.log" start >/dev/null
  set_port postgres "$port"
}

start_mariadb() { # name option...
  local name=$1 data=$dir/$1 socket=$dir/run/$1.sock port
  shift
  if alive "$dir/run/$name.pid" mariadbd; then return; fi
  if [[ ! -d $data/mysql ]]; then
    own_folder mysql "$data"
    local user=()
    if [[ $EUID -eq 0 ]]; then user=(--user=mysql); fi
    mariadb-install-db --no-defaults "${user[@]}" --datadir="$data" --auth-root-authentication-method=normal \
      --skip-test-db >"$dir/run/$name.install.log" 2>&1
  fi
  port=$(free_port)
  as mysql /usr/sbin/mariadbd --no-defaults --datadir="$data" --port="$port" --bind-address=127.0.0.1 \
    --socket="$socket" --pid-file="$dir/run/$name.pid" --log-error="$dir/run/$name.log" --default-time-zone=+00:00 \
    --character-set-server=utf8mb4 --collation-server=utf8mb4_bin --innodb-flush-method=nosync "$@" \
    >/dev/null 2>&1 </dev/null &
  local tries=150
  until mariadb-admin --no-defaults -uroot -S "$socket" ping >/dev/null 2>&1; do
    tries=$((tries - 1))
    if [[ $tries -eq 0 ]]; then die "$name does not answer; see $dir/run/$name.log"; fi
    sleep 0.2
  done
  mariadb --no-defaults -uroot -S "$socket" \
    -e "CREATE USER IF NOT EXISTS live@'127.0.0.1'; GRANT ALL ON *.* TO live@'127.0.0.1';
        CREATE USER IF NOT EXISTS live@localhost; GRANT ALL ON *.* TO live@localhost;"
  set_port "$name" "$port"
}

set_port() { # name port
  touch "$dir/PORTS"
  sed -i "/^$1=/d" "$dir/PORTS"
  echo "$1=$2" >>"$dir/PORTS"
}

stop_one() { # pid file, program, signal
  if alive "$1" "$2"; then
    local pid
    pid=$(head -1 "$1")
    kill "-$3" "$pid"
    for _ in $(seq 150); do
      if [[ ! -d /proc/$pid ]]; then break; fi
      sleep 0.2
    done
  fi
}

case $action in
  start)
    packages=(postgresql-15 mariadb-server python3-psycopg2 python3-pymysql)
    if [[ $install -eq 1 ]]; then
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
    fi
    [[ -x $pg_bin/initdb && -x /usr/sbin/mariadbd ]] || die "missing Debian packages: ${packages[*]}; see --install"
    mkdir -p "$dir/run"
    chmod 755 "$dir"
    chmod 777 "$dir/run"
    start_postgres
    start_mariadb mariadb_rollback --innodb-rollback-on-timeout=ON
    start_mariadb mariadb
    for n in $(seq 2 "$count"); do start_mariadb "mariadb$n"; done
    cat "$dir/PORTS"
    ;;
  stop)
    stop_one "$dir/postgres/postmaster.pid" postgres INT
    for file in "$dir"/run/mariadb*.pid; do stop_one "$file" mariadbd TERM; done
    rm -f "$dir"/PORTS "$dir"/PORTS.*.lock
    ;;
  ports) cat "$dir/PORTS" ;;
esac
