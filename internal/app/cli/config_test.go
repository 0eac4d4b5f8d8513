// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// configured runs a script with an administrator's and a user's configuration.
func configured(t *testing.T, site, own, source, script string) (status int, out, said string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("IBCONSOLE_SOURCE", "")
	file := filepath.Join(t.TempDir(), "config")
	if err := os.Mkdir(filepath.Join(home, "ibconsole"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{file: site, filepath.Join(home, "ibconsole", "config"): own} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var o, e strings.Builder
	args := []string{"-c", script}
	if source != "" {
		args = append(args, "-s", source)
	}
	status = run(args, streams{out: &o, err: &e, site: file})
	return status, o.String(), e.String()
}

// TestTheSitesWordAboutWriting: over ibsim write never holds whatever the user's file says; a simulated subnet is none.
func TestTheSitesWordAboutWriting(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	if status, _, said := configured(t, "write never\n", "", "sim:fattree:2,4", "write on; dump topology "+
		net); status != exitDone {
		t.Fatalf("simulated: %s", said)
	}
	sim := ibsimtest.Start(t, net)
	for _, c := range [][2]string{{"# site\nwrite never\n", "write group:root\n"}, {"", "\nwrite never\n"}} {
		status, out, said := configured(t, c[0], c[1], "ibsim:"+sim.Name, "write on")
		if status != exitFailed || !strings.Contains(said, "config:2: write never") ||
			!strings.Contains(said, "not a security boundary") {
			t.Errorf("%q: exit status %d, %s%s", c, status, out, said)
		}
	}
}

// TestDoctorInASessionListsTheRules, as that of the command line does.
func TestDoctorInASessionListsTheRules(t *testing.T) {
	status, out, said := configured(t, "write group:no-such-group\n", "write never\n", "sim:fattree:2,4", "doctor")
	if status != exitDone || strings.Count(out, ": write group:no-such-group\n") != 1 ||
		strings.Count(out, ": write never\n") != 1 || !strings.Contains(out, "links were read") {
		t.Errorf("exit status %d: %s%s", status, out, said)
	}
}

// TestTheSitesSourceAndNames are taken where the user has none.
func TestTheSitesSourceAndNames(t *testing.T) {
	names := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(names, []byte("0x200000 \"first leaf\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, said := configured(t, "source sim:fattree:2,4\nnames "+names+"\n", "theme dark\n", "", "show switches")
	if status != exitDone || !strings.Contains(out, "first leaf") {
		t.Errorf("exit status %d: %s%s", status, out, said)
	}
	status, out, said = configured(t, "source sim:fattree:2,12\n", "source sim:fattree:2,4\n", "", "show switches")
	if status != exitDone || strings.Count(out, "leaf-") != 4 {
		t.Errorf("exit status %d: %s%s", status, out, said)
	}
	if status, _, said = configured(t, "sauce x\n", "", "sim:fattree:2,4", "summary"); status != exitUsage ||
		!strings.Contains(said, `config:1: unknown word "sauce"`) {
		t.Errorf("exit status %d: %s", status, said)
	}
}

// TestWrongConfiguration checks that errors of the configuration list all wrong lines and the documents that describe
// them, and that a pipe in the place of the file is refused at once.
func TestWrongConfiguration(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ibconsole")
	file := filepath.Join(dir, "config")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Dir(dir))
	fails := func(words []string, want ...string) {
		t.Helper()
		var out, said strings.Builder
		in, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		status := run(append([]string{"-s", "sim:fattree:2,4"}, words...), streams{in: in, out: &out, err: &said})
		for _, text := range append(want, "docs/site.md", "docs/keys.md") {
			if status != exitUsage || !strings.Contains(said.String(), text) {
				t.Errorf("%q: exit status %d, %s, want %s", words, status, said.String(), text)
			}
		}
	}
	if err := os.WriteFile(file, []byte("watch x\ntheme pink\npane = last\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails([]string{"shell"}, "config:1: watch", "config:2: unknown theme", "config:3: a set")
	fails([]string{"summary"}, "config:1: watch", "config:3: a set")
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	fails([]string{"summary"}, "not a regular file")
	fails([]string{"shell"}, "not a regular file")
}
