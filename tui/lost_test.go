// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"io"
	"path/filepath"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// simNet is a file for ibsim with a small fat-tree.
func simNet(t *testing.T) string {
	t.Helper()
	s, err := session.Open(t.Context(), source.Source{Kind: source.File}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "net")
	if err := shell.New(s).Run(t.Context(), "test", "gen fattree 2,4 "+name,
		&shell.Output{W: io.Discard, Notes: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLoseTheConnection kills ibsim under the screen: it says so, marks what it
// shows as old, refuses what needs the subnet, still answers from what it knows,
// and comes back by itself.
func TestLoseTheConnection(t *testing.T) {
	net := simNet(t)
	sim := ibsimtest.Start(t, net)
	d := drive(t, "ibsim:"+sim.Name).sees("LIVE", "6 sw").misses("LOST")
	d.press(":watch 1", "enter")
	sim.Stop()
	d.until("LOST, OLD: read").until("the connection is lost; what is shown was read at").sees("6 sw")
	d.press("R").until("no ibsim listens there").sees("LOST, OLD: read")
	d.press("esc", "2", "/node-0001", "enter").sees("node-0001").press("esc")
	d.press("1").until("connection lo").sees("the subnet is as it")

	ibsimtest.Start(t, net, ibsimtest.Named(sim.Name))
	d.until("the connection is back").misses("LOST").sees("LIVE")
}
