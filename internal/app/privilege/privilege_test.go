// SPDX-License-Identifier: Apache-2.0

package privilege

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// becomeVar makes the test binary drop root and report its remaining privileges.
const becomeVar = "IBCONSOLE_TEST_BECOME"

func TestMain(m *testing.M) {
	if os.Getenv(becomeVar) == "" {
		os.Exit(m.Run())
	}
	u, ok, err := Started()
	if err == nil && ok {
		err = u.Become()
	}
	fmt.Printf("by %q error %v home %s\n", u.By, err, os.Getenv("HOME"))
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "Uid:") || strings.HasPrefix(line, "Gid:") ||
				strings.HasPrefix(line, "Groups:") || strings.HasPrefix(line, "CapEff:") {
				fmt.Println(strings.Join(strings.Fields(line), " "))
			}
		}
	}
}

// started runs this binary by a command, and returns what Become has left.
func started(t *testing.T, env []string, command ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give root up")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("env", append(slices.Clone(command), self, "-test.run=^$")...)
	if len(command) == 0 {
		cmd = exec.Command(self)
	}
	cmd.Env = append([]string{becomeVar + "=1", "HOME=/root", "PATH=" + os.Getenv("PATH")}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestSudo: all threads are the user's, in every one of the four identities, without groups or capabilities of root.
// 65534 is Debian's nobody, whose home is /nonexistent; 54321 is nobody's number.
func TestSudo(t *testing.T) {
	for _, c := range []struct{ uid, gid, home string }{
		{"65534", "65534", "/nonexistent"}, {"54321", "54322", "/root"},
	} {
		out := started(t, []string{"SUDO_UID=" + c.uid, "SUDO_GID=" + c.gid})
		if !strings.Contains(out, `by "sudo" error <nil> home `+c.home) {
			t.Error(out)
		}
		for line := range strings.Lines(out) {
			for what, want := range map[string]string{"Uid:": c.uid, "Gid:": c.gid, "CapEff:": "0000000000000000",
				"Groups:": c.gid} {
				for got := range strings.FieldsSeq(strings.TrimPrefix(line, what)) {
					if strings.HasPrefix(line, what) && got != want {
						t.Errorf("%s, want %s", line, want)
					}
				}
			}
		}
		if strings.Count(out, "Uid:") < 2 {
			t.Errorf("fewer threads than Go has:\n%s", out)
		}
	}
}

func TestRootStaysRoot(t *testing.T) {
	for _, env := range [][]string{nil, {"SUDO_UID=0", "SUDO_GID=0"}} {
		if out := started(t, env); !strings.Contains(out, `by "" error <nil> home /root`) ||
			!strings.Contains(out, "Uid: 0 0 0 0") {
			t.Error(out)
		}
	}
	for _, env := range [][]string{{"SUDO_UID=anna", "SUDO_GID=1"}, {"SUDO_UID=1000"}, {"SUDO_UID=-1", "SUDO_GID=1"},
		{"SUDO_UID=4294967295", "SUDO_GID=1"}} {
		if out := started(t, env); !strings.Contains(out, "expected numbers") {
			t.Errorf("%q: %s", env, out)
		}
	}
}

// TestSetuid: a program that is setuid root, of another owner's.
func TestSetuid(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a program setuid root")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip(err)
	}
	out := started(t, nil, setpriv, "--ruid", "65534", "--rgid", "65534", "--groups", "65534")
	if !strings.Contains(out, `by "setuid" error <nil> home /root`) || strings.Contains(out, " 0 ") ||
		!strings.Contains(out, "Uid: 65534 65534 65534 65534") {
		t.Error(out)
	}
}
