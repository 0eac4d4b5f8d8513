// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
)

// TestRootIsGivenUp checks that a program that sudo started opens the device, while the files belong to the user, who
// cannot open the device, and that doctor opens it a second time. The file system of the devices checks no permissions,
// so those of their folder do it.
func TestRootIsGivenUp(t *testing.T) {
	setpriv := testenv.Tool(t, "setpriv")
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+file)
	run := umadtest.Devices(t, ibsimtest.Start(t, file).Name)
	home := homeOfNobody(t)
	out := run("sh", "-c", `set -e
		program=$1 setpriv=$2 home=$3`+closedDevices+`
		echo "plain: $("$setpriv" --reuid 65534 --regid 65534 --clear-groups ./ibconsole -s umad -c sweep 2>&1)"
		export SUDO_UID=65534 SUDO_GID=65534
		./ibconsole -s umad -c 'sweep full; dump lfts lfts; doctor' 2>&1 || true
		echo "machine:"
		./ibconsole -s umad doctor 2>&1 || true
		stat -c '%u %g %n' lfts state/ibconsole state/ibconsole/*
		umount /dev/infiniband/umad0 /dev/infiniband "$real"
		`+"rmdir \"$real\"", "sh", program, setpriv, home)
	for _, want := range []string{
		"plain: ibconsole: ", "permission denied", "44 nodes", "given up for nobody (user 65534), by sudo",
		"the module ib_umad is loaded",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if n := strings.Count(out, "12 switches, 32 adapters and 64 links were read"); n != 2 {
		t.Errorf("doctor read the subnet %d times:\n%s", n, out)
	}
	for _, file := range regexp.MustCompile(`(?m)^\d+ \d+ (lfts|state/.*)$`).FindAllString(out, -1) {
		if !strings.HasPrefix(file, "65534 65534 ") {
			t.Errorf("does not belong to the user: %s", file)
		}
	}
	if !strings.Contains(out, "65534 65534 state/ibconsole/") || !strings.Contains(out, "65534 65534 lfts") {
		t.Errorf("no files of the user:\n%s", out)
	}
}

// TestRootBySudoAndSetuid checks that the program gives root up if the real sudo started it, and as a setuid program:
// it opens the device that its user cannot open, and all files belong to the user.
func TestRootBySudoAndSetuid(t *testing.T) {
	setpriv, sudo := testenv.Tool(t, "setpriv"), testenv.Tool(t, "sudo")
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+file)
	run := umadtest.Devices(t, ibsimtest.Start(t, file).Name)
	home := homeOfNobody(t)
	out := run("sh", "-c", `set -e
		program=$1 setpriv=$2 sudo=$3 home=$4`+closedDevices+`
		nobody() { "$setpriv" --reuid 65534 --regid 65534 --clear-groups "$@" 2>&1 || true; }
		mount -t tmpfs -o mode=0755 none /etc/sudoers.d
		echo 'nobody ALL=(root) NOPASSWD: ALL' >/etc/sudoers.d/nobody
		nobody "$sudo" -n XDG_STATE_HOME="$home/by-sudo" ./ibconsole -s umad -c 'dump lfts sudo.lfts; doctor'
		umount /etc/sudoers.d
		setuid=$(mktemp -d)
		mount -t tmpfs -o mode=0755 none "$setuid"
		cp "$program" "$setuid/ibconsole"
		chmod 4755 "$setuid/ibconsole"
		export XDG_STATE_HOME=$home/by-setuid
		nobody "$setuid/ibconsole" -s umad -c 'dump lfts setuid.lfts; doctor'
		export SUDO_UID=0 SUDO_GID=0 # not of sudo
		nobody "$setuid/ibconsole" -s umad -c 'dump lfts liar.lfts'
		umount "$setuid"
		stat -c '%u %g %n' *.lfts by-*/ibconsole by-*/ibconsole/*
		umount /dev/infiniband/umad0 /dev/infiniband "$real"
		rmdir "$real" "$setuid"`, "sh", program, setpriv, sudo, home)
	for _, want := range []string{
		"given up for nobody (user 65534), by sudo", "given up for nobody (user 65534), by setuid",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	files := regexp.MustCompile(`(?m)^\d+ \d+ (\S+)$`).FindAllStringSubmatch(out, -1)
	owned := map[string]bool{}
	for _, f := range files {
		owned[f[1]] = strings.HasPrefix(f[0], "65534 65534 ")
		if !owned[f[1]] {
			t.Errorf("does not belong to the user: %s", f[0])
		}
	}
	for _, want := range []string{"sudo.lfts", "setuid.lfts", "liar.lfts", "by-sudo/ibconsole", "by-setuid/ibconsole"} {
		if !owned[want] {
			t.Errorf("no %s of the user:\n%s", want, out)
		}
	}
}

// closedDevices copies $program to $home, which it makes the folder and gives to the user, and lets only root into the
// folder of the devices. $real is its previous content.
const closedDevices = `
		cp "$program" "$home/ibconsole"
		real=$(mktemp -d)
		mount --bind /dev/infiniband "$real"
		mount -t tmpfs -o mode=0700 none /dev/infiniband
		touch /dev/infiniband/umad0
		mount --bind "$real/umad0" /dev/infiniband/umad0
		cd "$home"
		export XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config`

// TestReopenedWithoutRoot checks that a connection that was lost after root was given up is opened again, by a user who
// cannot open the device, which is closed to all but root in the meantime.
func TestReopenedWithoutRoot(t *testing.T) {
	script := testenv.Tool(t, "script")
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+file)
	// ibsim puts a program at the first node
	local := regexp.MustCompile(`(?m)^(?:Switch|Ca)\s+\d+\s+"([^"]+)"`).FindStringSubmatch(read(t, file))
	if local == nil {
		t.Fatalf("no node in %s", file)
	}
	sim := ibsimtest.Start(t, file)
	out := umadtest.Devices(t, sim.Name)("bash", "-c", `
		program=$1 script=$2 local=$3 console=$4 home=$5`+closedDevices+`
		export SUDO_UID=65534 SUDO_GID=65534 TERM=dumb
		mkfifo in
		"$script" -qec "./ibconsole -s umad shell" /dev/null >out 2>&1 <in &
		shell=$!
		exec 3>in
		says() { for _ in $(seq 300); do grep -q "$1" out && return; sleep 0.1; done; echo "never said: $1" >>out; }
		loses() { echo "Error \"$local\" $1" >"$console"; sleep 0.5; }
		says 'umad> '
		loses 100; echo 'sweep full' >&3; says 'LOST> '
		loses 0; echo 'sweep full' >&3; says 'sweep of live: 44 nodes'
		echo exit >&3
		exec 3>&-
		for _ in $(seq 100); do kill -0 "$shell" 2>/dev/null || break; sleep 0.1; done
		kill "$shell" 2>/dev/null || true
		cat out
		umount /dev/infiniband/umad0 /dev/infiniband "$real"
		rmdir "$real"`, "bash", program, script, local[1], sim.ConsolePipe(), homeOfNobody(t))
	for _, want := range []string{"LOST> ", "sweep of live: 44 nodes"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "never said") {
		t.Error(out)
	}
}

// homeOfNobody returns a folder of the user nobody, below folders that are all accessible.
func homeOfNobody(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "ibconsole-nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	const nobody = 65534
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Skipf("only root can give root up: %v", err)
	}
	return home
}
