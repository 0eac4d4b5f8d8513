// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"os"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/tmuxtest"
)

// screenOf is this test binary as a program on a terminal that tmux emulates.
type screenOf struct {
	*tmuxtest.Screen
	t *testing.T
}

// onTmux starts this test binary as a program with a screen in a terminal of w by
// h cells.
func onTmux(t *testing.T, w, h int, kind string, env ...string) *screenOf {
	t.Helper()
	vars := append([]string{"-u", "CI", "-u", "NO_COLOR", "-u", "COLORTERM", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		envChild + "=" + kind}, env...)
	return &screenOf{Screen: tmuxtest.Start(t, w, h, "exec env "+strings.Join(append(vars, os.Args[0]), " ")), t: t}
}
