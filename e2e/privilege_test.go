// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
)

// TestRootIsGivenUp: of a program that sudo started the device is open and the files are the user's, who could not have opened
// the device, and doctor opens it a second time. The file system of the devices asks for no permissions, so their folder does.
func TestRootIsGivenUp(t *testing.T) {
	setpriv := testenv.Tool(t, "setpriv")
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+file)
	run := umadtest.Devices(t, ibsimtest.Start(t, file).Name)
	home, err := os.MkdirTemp("", "ibconsole-nobody") // below nothing that is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	const nobody = 65534
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Skipf("only root can give root up: %v", err)
	}
	out := run("sh", "-c", `set -e
		program=$1 setpriv=$2 home=$3
		cp "$program" "$home/ibconsole"
		real=$(mktemp -d)
		mount --bind /dev/infiniband "$real"
		mount -t tmpfs -o mode=0700 none /dev/infiniband
		touch /dev/infiniband/umad0
		mount --bind "$real/umad0" /dev/infiniband/umad0
		cd "$home"
		export XDG_STATE_HOME=$home/state XDG_CONFIG_HOME=$home/config
		echo "plain: $("$setpriv" --reuid 65534 --regid 65534 --clear-groups ./ibconsole -s umad -c sweep 2>&1)"
		export SUDO_UID=65534 SUDO_GID=65534
		./ibconsole -s umad -c 'sweep full; dump lfts lfts; doctor' 2>&1 || true
		echo "machine:"
		./ibconsole -s umad doctor 2>&1 || true
		stat -c '%u %g %n' lfts state/ibconsole state/ibconsole/*
		umount /dev/infiniband/umad0 /dev/infiniband "$real"
		`+"rmdir \"$real\"", "sh", program, setpriv, home)
	for _, want := range []string{"plain: ibconsole: ", "permission denied", "44 nodes", "given up for nobody (user 65534), by sudo", "the module ib_umad is loaded"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if n := strings.Count(out, "12 switches, 32 adapters and 64 links were read"); n != 2 {
		t.Errorf("doctor read the subnet %d times:\n%s", n, out)
	}
	for _, file := range regexp.MustCompile(`(?m)^\d+ \d+ (lfts|state/.*)$`).FindAllString(out, -1) {
		if !strings.HasPrefix(file, "65534 65534 ") {
			t.Errorf("not the user's: %s", file)
		}
	}
	if !strings.Contains(out, "65534 65534 state/ibconsole/") || !strings.Contains(out, "65534 65534 lfts") {
		t.Errorf("no files of the user's:\n%s", out)
	}
}
