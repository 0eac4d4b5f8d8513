// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/spinner"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// committing returns a screen with a running commit; end ends it.
func committing(t *testing.T, err error) (d *driver, back *fake, end func()) {
	f, tables := routed(t, "fattree:2,4")
	back = newFake(f)
	back.state.Staged = &session.Picture{
		Kind: session.Staged, Fabric: f, Tables: fabric.NewTables(f, tables.LFT, "minhop"),
	}
	back.state.WriteOn = true
	ended := make(chan struct{})
	back.run = func(ctx context.Context, text string, out *shell.Output) error {
		if text != "commit yes" {
			fmt.Fprintln(out.W, "LFT blocks       14 on 13 switches")
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err == nil {
			fmt.Fprintln(out.W, "written in 3.1 s: 14 blocks; read back: 14 blocks")
		}
		return err
	}
	d = driveBackend(t, back)
	now := time.Unix(0, 0)
	d.m.now = func() time.Time { return now }
	d.press("C").sees("y write it")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("y")})
	d.sees("Commit", "reading the subnet and planning", "Esc interrupts the commit: nothing is written yet")
	now = now.Add(3 * time.Second)
	return d, back, func() { close(ended); d.settle() }
}

// writes sets the progress of the commit.
func (d *driver) writes(back *fake, p apply.Progress) *driver {
	back.change(func(st *session.State) { st.Busy, st.Writing = "commit", &p })
	d.send(changedMsg{})
	return d
}

var writing = apply.Progress{
	Phases: []string{"raised LinearFDBTops", "step 1 of 2", "step 2 of 2", "read back"}, Phase: 2, Done: 2, Total: 4,
	Node:    "leaf-07 \x1b[2J",
	Written: apply.Counts{Tops: 2, Blocks: 10}, All: 16,
}

// TestCommitIsFollowed checks that the page of a commit shows its step, its switch, the effect of an interrupt, and the
// result. Keys of panes leave it.
func TestCommitIsFollowed(t *testing.T) {
	d, back, end := committing(t, nil)
	d.writes(back, writing).check()
	d.sees("now        3 of 4  LFT blocks, step 2 of 2", "2 of 4, leaf-07", "written    12 of 16", "verified   0",
		"time       3", "written blocks stay")
	// independent of the time
	d.m.spinner = spinner.New(spinner.WithSpinner(spinner.Spinner{Frames: d.m.Look.Spin, FPS: tickPause}))
	golden(t, filepath.Join("panes", "commit-120x36"), d.screen())
	d.size(80, 24)
	golden(t, filepath.Join("panes", "commit-80x24"), d.screen())
	last := writing
	last.Phase, last.Done, last.Total, last.ReadBack = 3, 5, 16, apply.Counts{Blocks: 5}
	d.writes(back, last).sees("4 of 4  read back", "verified   5", "but not all are")
	d.send(tea.KeyMsg{Type: tea.KeyEnter})
	d.sees("the commit continues: Esc interrupts it")
	back.change(func(st *session.State) { st.Busy, st.Writing = "", nil })
	end()
	d.sees("Completed:", "written in 3.1 s: 14 blocks").press("6").misses("Completed")
}

// TestCommitIsInterrupted checks that Esc interrupts the commit, and that the page shows where it stopped.
func TestCommitIsInterrupted(t *testing.T) {
	d, back, _ := committing(t, nil)
	d.writes(back, writing).press("esc").sees("Not completed", "stopped    3 of 4",
		"cancelled").press("esc").misses("Not completed")
	d, back, end := committing(t, errors.New("leaf-07: no answer"))
	d.writes(back, writing)
	end()
	d.sees("Not completed", "leaf-07: no answer")
}

// TestTypedCommitIsFollowed checks that the page of a typed commit opens once it writes, and not again after it was
// left.
func TestTypedCommitIsFollowed(t *testing.T) {
	d, back, end := committing(t, nil)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2")})
	d.misses("Esc interrupts the commit")
	d.m.jobs.running[0].pageShown = false // as one that was typed
	d.writes(back, writing).sees("3 of 4  LFT")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2")})
	d.writes(back, writing).misses("3 of 4  LFT")
	back.change(func(st *session.State) { st.Busy, st.Writing = "", nil })
	end()
}
