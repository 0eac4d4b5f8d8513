// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session/source"
)

// plantedVar is set in tests that run on a machine with planted files.
const plantedVar = "IBCONSOLE_TEST_PLANTED"

// planted lists files of a machine on which OpenSM and this program have run, with content that would mislead tests.
func planted() map[string]string {
	var guid2lid strings.Builder
	for i := range 0x80 { // the GUIDs of ibsim, with other LIDs than a test expects
		fmt.Fprintf(&guid2lid, "0x%016x 0x%04x 0x%04x\n\n0x%016x 0x%04x 0x%04x\n\n", 0x100000+i, 0x200-i, 0x200-i,
			0x200000+i, 0x80-i, 0x80-i)
	}
	const garbage = "not what is expected here\n"
	return map[string]string{
		"cache/opensm/guid2lid":                  guid2lid.String(),
		"cache/opensm/neighbors":                 garbage,
		"etc/opensm/opensm.conf":                 "routing_engine ftree,no_fallback\nlmc 3\n",
		"etc/opensm/partitions.conf":             "Default=0x7fff, sl=5 : SELF=full ;\n",
		"etc/opensm/torus-2QoS.conf":             garbage,
		"etc/opensm/qos-policy.conf":             garbage,
		"etc/opensm/prefix-routes.conf":          garbage,
		"etc/opensm/per-module-logging.conf":     garbage,
		"etc/ibconsole/config":                   "write never\nsource file:/none\n",
		"lib/ibconsole/counters.db":              garbage,
		"home/.config/ibconsole/config":          garbage,
		"home/.local/state/ibconsole/history.db": garbage,
		"home/.tmux.conf":                        "set -g prefix C-q\n",
		"xdg/config/ibconsole/config":            garbage,
		"xdg/state/ibconsole/history.db":         garbage,
		"osm/guid2lid":                           guid2lid.String(),
		"run/systemd/journal/.placeholder":       "",
	}
}

// plantedDirs lists the folders of the machine that get planted files, by their names below the folder of [planted].
// Their other files stay.
var plantedDirs = map[string]string{"cache": "/var/cache", "etc": "/etc", "lib": "/var/lib", "run": "/run"}

// machine is a folder with planted files, which is watched.
type machine struct {
	dir     string
	inotify *os.File
	mu      sync.Mutex
	names   map[int32]string // of watched folders
	touched []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "machine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &machine{dir: dir, names: map[int32]string{}}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range planted() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.listen(t)
	m.watch(t)
	return m
}

// listen replaces journald.
func (m *machine) listen(t *testing.T) {
	t.Helper()
	addr := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(m.dir, "run/systemd/journal/socket")}
	c, err := net.ListenUnixgram("unixgram", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := c.Read(b)
			if err != nil {
				return
			}
			m.note("message to journald: " + string(b[:min(n, 200)]))
		}
	}()
}

// watch records all accesses and changes of planted files.
func (m *machine) watch(t *testing.T) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	m.inotify = os.NewFile(uintptr(fd), "inotify")
	t.Cleanup(func() { _ = m.inotify.Close() })
	tops := []string{"cache/opensm", "etc/opensm", "etc/ibconsole", "lib/ibconsole", "home", "xdg", "osm"}
	const what = syscall.IN_OPEN | syscall.IN_MODIFY | syscall.IN_ATTRIB | syscall.IN_CREATE | syscall.IN_DELETE |
		syscall.IN_MOVE
	for _, top := range tops {
		err := filepath.WalkDir(filepath.Join(m.dir, top), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return err
			}
			wd, err := syscall.InotifyAddWatch(fd, path, what)
			m.names[int32(wd)] = strings.TrimPrefix(path, m.dir+"/")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := m.inotify.Read(b)
			if err != nil {
				return
			}
			for b := b[:n]; len(b) >= syscall.SizeofInotifyEvent; {
				size := binary.NativeEndian.Uint32(b[12:])
				name := string(bytes.TrimRight(b[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+size], "\x00"))
				m.note(fmt.Sprintf("%s, event 0x%x", filepath.Join(m.names[int32(binary.NativeEndian.Uint32(b))], name),
					binary.NativeEndian.Uint32(b[4:])))
				b = b[syscall.SizeofInotifyEvent+size:]
			}
		}
	}()
}

func (m *machine) note(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.touched, what) {
		m.touched = append(m.touched, what)
	}
}

// noted returns the touched files, once no more events arrive.
func (m *machine) noted() []string {
	time.Sleep(100 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.touched)
}

// script mounts the folders with the planted files over those of the machine, in a separate mount namespace.
func (m *machine) script() string {
	var b strings.Builder
	b.WriteString("set -e\n")
	for name, place := range plantedDirs {
		ours := filepath.Join(m.dir, name)
		real := ours + "-real"
		fmt.Fprintf(&b, "mkdir -p %[2]s; mount --bind %[3]s %[2]s\n"+
			"for f in %[2]s/* %[2]s/.[!.]*; do n=${f##*/}; [ -e %[1]s/$n ] || [ -L %[1]s/$n ] || [ ! -e $f ] || ln "+
			"-s $f %[1]s/$n; done\n"+
			"mount --bind %[1]s %[3]s\n", ours, real, place)
	}
	fmt.Fprintf(&b, "[ ! -S /dev/log ] || mount --bind %s/run/systemd/journal/socket /dev/log\n", m.dir)
	b.WriteString("cd \"$1\"; shift; exec \"$@\"\n")
	return b.String()
}

// run runs a program in a folder of that machine, as a user with a home and many variables there.
func (m *machine) run(t *testing.T, folder string, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"-m", "sh", "-c", m.script(), "sh", folder}, args...)...)
	at := func(name string) string { return filepath.Join(m.dir, name) }
	cmd.Env = append(os.Environ(), plantedVar+"=1", programVar+"="+program, "HOME="+at("home"), "XDG_STATE_HOME="+
		at("xdg/state"), "XDG_CONFIG_HOME="+at("xdg/config"),
		source.Var+"=file:/none", "SIM_HOST=none", "IBSIM_SOCKNAME=none", "OSM_CACHE_DIR="+at("osm"), "OSM_TMP_DIR="+
			at("osm"), "NO_COLOR=1", "SLURM_CONF=/none")
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// testsOfPlanted are run in each case: packages below the module with the names of tests.
var testsOfPlanted = map[string]string{
	"routing/engines":  "^(TestPaperEqualsOpenSM|TestCalibrationAfterLosses|TestDumpedGUID2LIDEqualsOpenSM)$",
	"internal/app/cli": ".",
	"e2e":              "^(TestPathsEqualOpenSM|TestHandover|TestScripts)$/(commit|engines|fattree)",
}

// TestTestsLeaveTheMachineAlone runs tests on a machine with files of OpenSM, of this program and of its user, and with
// variables that point to others. They must pass, open and change none of these files, and write nothing to its log.
// With IBCONSOLE_FULL=1 it runs those of all packages.
func TestTestsLeaveTheMachineAlone(t *testing.T) {
	if os.Getenv(plantedVar) != "" {
		t.Skip("this is such a machine")
	}
	testenv.Tool(t, "unshare")
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("a mount namespace requires root")
	}
	m := newMachine(t)
	// Check that the watch works and that the namespace has the files.
	if out, err := m.run(t, "/", "cat", "/var/cache/opensm/guid2lid", "/etc/opensm/opensm.conf", "/etc/passwd"); err !=
		nil || len(m.noted()) < 2 || !bytes.Contains(out, []byte("root:")) {
		t.Fatalf("%v: %q\n%s", err, m.noted(), out)
	}
	m.touched = nil
	module, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOfPlanted
	if testenv.Full() {
		tests = map[string]string{}
		list := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}", "./...")
		list.Dir = module
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for dir := range strings.FieldsSeq(string(out)) {
			tests[strings.TrimPrefix(strings.TrimPrefix(dir, module), "/")] = "."
		}
	}
	for pkg, names := range tests {
		t.Run(pkg, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test")
			build := exec.Command("go", "test", "-c", "-o", file, "./"+pkg)
			build.Dir = module
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			limit := "5m"
			if testenv.Full() {
				limit = "55m"
			}
			out, err := m.run(t, filepath.Join(module, pkg), "env", "-u", "IBCONSOLE_FULL", file, "-test.run", names,
				"-test.timeout", limit)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if touched := m.noted(); len(touched) > 0 {
				t.Errorf("files of the machine were used:\n%s", strings.Join(touched, "\n"))
			}
			m.mu.Lock()
			m.touched = nil
			m.mu.Unlock()
		})
	}
}
