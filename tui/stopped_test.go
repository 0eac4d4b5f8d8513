// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// TestInterruptedIsSaidFirst: the screen names a commit that was interrupted below the
// panes as soon as the subnet was read, as the first of its problems and in the log.
func TestInterruptedIsSaidFirst(t *testing.T) {
	th, err := draw.NewTheme("dark", termenv.TrueColor, glyphsOf("C.UTF-8", "xterm"), nil)
	if err != nil {
		t.Fatal(err)
	}
	back := newFake(star(t, "one", "a"))
	d := &driver{t: t, m: newModel(t.Context(), back, th), msgs: make(chan tea.Msg, 1000)}
	d.m.start = func(context.Context) error {
		back.change(func(st *session.State) { st.Interrupted = "the commit of noon was interrupted" })
		return nil
	}
	d.run(d.m.Init())
	d.size(120, 36)
	d.settle()
	d.sees("the commit of noon was interrupted")
	if d.m.status.text != "the commit of noon was interrupted" || !d.m.status.bad {
		t.Errorf("the status line says %+v", d.m.status)
	}
	d.press("1").sees("error     commit cut sh")
	d.press("8").sees("the commit of noon was interrupted")
}
