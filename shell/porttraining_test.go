// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestSpeedsAndWidths changes the enabled speeds and widths of a port of a 4x NDR link, whose peer enables 1x, 4x and
// all speeds from SDR to NDR. The link trains to the best value that both ends enable. A change after which they have
// none in common is refused. rollback restores the width and speed of the link.
func TestSpeedsAndWidths(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		command, plan, link string
		isRefused           bool
	}{
		{command: "speed leaf-01/3 sdr", plan: "enables 1x,4x at SDR; with spine-01/1 the link trains at 4x SDR",
			link: "4xSDR"},
		// A number is only LinkSpeedEnabled, as in ibportstate: the extended speeds stay.
		{command: "speed leaf-01/3 1", plan: "(FDR,EDR,HDR,NDR stay enabled", link: "4xNDR"},
		{command: "speed leaf-01/3 hdr", plan: "(SDR,DDR,QDR stay enabled", link: "4xHDR"},
		{command: "speed leaf-01/3 ddr,edr", plan: "trains at 4x EDR", link: "4xEDR"},
		{command: "width leaf-01/3 1x", plan: "enables 1x at", link: "1xNDR"},
		{command: "width leaf-01/3 all", plan: "trains at 4x NDR", link: "4xNDR"},
		{command: "width leaf-01/3 12x", plan: "nothing in common with spine-01/1", isRefused: true},
		{command: "width leaf-01/3 8x,2x", plan: "nothing in common", isRefused: true},
	} {
		s := sessiontest.OpenIn(t, "sim:fattree:2,4", t.TempDir())
		out, err := runIn(t.Context(), s, "write on; port "+c.command+" yes reset force-interrupt")
		if commits.Needs(err, commits.Unreachable) != c.isRefused || !c.isRefused && err != nil ||
			!strings.Contains(out, c.plan) {
			t.Errorf("%s: %v, want %q\n%s", c.command, err, c.plan, out)
		}
		if c.isRefused { // with permission, but without the usual wait for the link
			f := s.State().Live.Fabric
			port := write.Control{GUID: f.Nodes[f.NodesByDescription("leaf-01")[0]].GUID, Num: 3}
			width, reset := port, port
			width.Width, reset.Phys, reset.Reset = mad.Width8x|mad.Width2x, mad.PhysPolling, true
			opt := commits.Options{Confirmed: true, AllowUnreachable: true, AllowInterrupt: true,
				LinkWait: time.Millisecond}
			rep, err := commits.Control(t.Context(), s, []write.Control{width, reset}, "", opt)
			if err != nil || len(rep.LinksDown) != 1 {
				t.Errorf("%s with permission: %v, links down %v", c.command, err, rep.LinksDown)
			}
		}
		out, err = runIn(t.Context(), s, "show links leaf-01")
		if at := "spine-01/1         " + c.link; err != nil || !c.isRefused && !strings.Contains(out, at) ||
			c.isRefused && strings.Contains(out, "spine-01/1") {
			t.Errorf("after %s: %v, want %q\n%s", c.command, err, at, out)
		}
		if out, err := runIn(t.Context(), s, "rollback yes force-interrupt"); err != nil {
			t.Errorf("after %s: %v\n%s", c.command, err, out)
		}
		out, err = runIn(t.Context(), s, "show links leaf-01")
		if err != nil || !strings.Contains(out, "spine-01/1         4xNDR") {
			t.Errorf("after the rollback of %s: %v\n%s", c.command, err, out)
		}
	}
}

// TestPlansOfPorts checks texts of plans that a reader needs before the write, and refusals.
func TestPlansOfPorts(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := sessiontest.OpenIn(t, "sim:fattree:2,4", t.TempDir())
	if out, err := runIn(t.Context(), s, "write on; port disable leaf-01/4 yes force-unreachable"); err != nil {
		t.Fatal(err, out)
	}
	for _, c := range []struct{ command, want string }{
		{"port reset leaf-01/4", "which enables the disabled port"},
		{"port width leaf-01/3 1x", "not before it trains again (option reset)"},
		{"port width leaf-01/4 1x", "it is unknown what the peer enables"},
		// 4 of 8 hosts send over a spine of two, to 6 others each: 2 * 6 pairs in each direction are lost.
		{"port disable leaf-02/3 yes dry-run", "and 2 more"},
		{"port disable leaf-02/3 yes dry-run", "nothing was written, and 'port disable leaf-02/3 yes' would be"},
		{"drain link leaf-02 3 timeout=0", "expected at least 1 second"},
		{"drain link leaf-02 3 timeout=-1", "expected at least 1 second"},
		{"drain switch leaf-02 yes", "2 hosts would lose connectivity"},
		{"drain host node-0003 port=disable", "hint: run 'drain host node-0003 yes port=disable'"},
		{"restore all; fail switch leaf-02; route; commit yes", "no link of the what-if leads to them"},
		{"restore all; fail link leaf-02 3; route; commit yes journal=/missing/x", "open the journal: stat /missing"},
		{"commit yes dry-run", "nothing was written, and 'commit yes' would be refused"},
	} {
		out, err := runIn(t.Context(), s, c.command)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in\n%s", c.command, c.want, out)
		}
	}
}
