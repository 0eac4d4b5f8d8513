// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/tmuxtest"
)

// TestSecondSignalLeavesTheTerminal ends a program whose screen does nothing any more by two signals: the terminal is
// not raw, shows its cursor and the screen that was there before, and wants no mouse.
func TestSecondSignalLeavesTheTerminal(t *testing.T) {
	dir := t.TempDir()
	number, there := filepath.Join(dir, "number"), filepath.Join(dir, "stuck") // of the process, and that it is stuck
	s := tmuxtest.Start(t, 100, 30,
		fmt.Sprintf("env -u CI LANG=C.UTF-8 LC_ALL=C.UTF-8 %s=stuck %s=%s sh -c 'echo $$ >%s; exec %s'; echo ENDED "+
			"$?; stty -a; cat", envChild, envStuck, there, number, os.Args[0]))
	const modes = "display-message -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag}'"
	s.Awaits("leaf-01")
	if got := strings.TrimSpace(s.Tmux(modes)); got != "1 0 1" {
		t.Fatalf("on the screen the terminal has %s", got)
	}
	s.Types(":", "show", "Tab")
	for deadline := time.Now().Add(tmuxtest.Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(there); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the program is not stuck")
		}
	}
	pid, err := os.ReadFile(number)
	if err != nil {
		t.Fatal(err)
	}
	s.Tmux("run-shell 'kill " + strings.TrimSpace(string(pid)) + "; sleep 0.1; kill " + strings.TrimSpace(string(pid)) +
		"'")
	s.Awaits("ENDED 143", " icanon", " echo", "!-icanon", "!-echo ")
	if got := strings.TrimSpace(s.Tmux(modes)); got != "0 1 0" {
		t.Errorf("it is left with %s, expected no other screen, a cursor and no mouse", got)
	}
}
