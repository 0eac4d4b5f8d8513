// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/session"
)

type mcastAnswer struct {
	checked
	Groups string `json:"groups"`
	mcast.Counts
	Faults []mcastFault `json:"faults"`
	// Loop says whether unicast and multicast together have a credit loop, null where it
	// is unknown, as Why says, and Ring which; Mixed says that unicast alone has none.
	Loop    credits.Verdict `json:"loop"`
	Why     string          `json:"why,omitempty"`
	Try     string          `json:"try,omitempty"`
	Ring    []creditHop     `json:"ring"`
	Mixed   bool            `json:"loop_needs_multicast"`
	Seconds float64         `json:"seconds"`
}

type mcastFault struct {
	Kind mcast.Kind `json:"kind"`
	MLID string     `json:"mlid"`
	From string     `json:"from,omitempty"`
	To   string     `json:"to,omitempty"`
	Path []string   `json:"ports,omitempty"`
	lead Lead
}

// Tables has the faults, and the links of a credit loop.
func (a *mcastAnswer) Tables() []Table {
	faults := tableOf("multicast faults", []string{"MLID", "FAULT", "FROM", "TO", "PORTS", "WHAT"}, a.Faults, func(f mcastFault) plainRow {
		return plainRow{leads{f.lead}, []any{f.MLID, f.Kind, orDash(f.From), orDash(f.To), orDash(strings.Join(f.Path, " ")), f.text()}}
	})
	return []Table{faults, ringTable(a.Ring)}
}

func (c *call) checkMulticast(st *session.State, p *session.Picture) error {
	known, err := st.GroupsOf(p)
	switch {
	case p.Tables.MFT == nil:
		return mcast.ErrNoTables
	case err != nil:
		return err
	}
	start := time.Now()
	r, err := mcast.Check(c.ctx, p.Tables, known.List, nil)
	if err != nil {
		return err
	}
	a := mcastAnswer{checked: checkedOf("mcast", st, p, r.Verdict()), Groups: known.Origin, Counts: r.Counts, Faults: []mcastFault{}, Ring: []creditHop{}}
	for i := range r.Faults {
		a.Faults = append(a.Faults, mcastFaultOf(p.Fabric, &r.Faults[i]))
	}
	if err := c.groupCredits(st, p, known, &a); err != nil {
		return err
	}
	a.checked.Verdict = verdict.Worst(r.Verdict(), a.Loop.Verdict())
	a.Seconds = time.Since(start).Seconds()
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	var bad []error
	wrong := strings.Join(a.wrong(), ", ")
	if err := c.judge(r.Verdict(), "multicast: "+wrong, "multicast: unknown: "+wrong); err != nil {
		bad = append(bad, err)
	}
	if err := c.judgeLoop(a.Loop, len(a.Ring), a.Why); err != nil {
		bad = append(bad, err)
	}
	return allFound(bad)
}

// groupCredits looks for credit loops of unicast and multicast together.
func (c *call) groupCredits(st *session.State, p *session.Picture, known *session.Groups, a *mcastAnswer) error {
	opt := credits.Options{GroupSL: fabric.GroupSLs(known.List)}
	r, err := c.session.Analysis().Credits(c.ctx, p.Tables, opt)
	if err != nil {
		return err
	}
	if a.Loop = r.Verdict; a.Loop == credits.Unknown {
		a.Why, a.Try = st.UnknownLoop(r.Unread, r.Partial)
	}
	if a.Loop != credits.Loop {
		return nil
	}
	a.Ring = creditHops(p.Fabric, r.Ring)
	alone := *p.Tables
	alone.MFT = nil
	r, err = c.session.Analysis().Credits(c.ctx, &alone, opt)
	if err == nil {
		a.Mixed = r.Verdict == credits.None
	}
	return err
}

func mcastFaultOf(f *fabric.Fabric, m *mcast.Fault) mcastFault {
	out := mcastFault{Kind: m.Kind, MLID: mlidText(m.MLID)}
	if m.Src != fabric.None {
		out.From, out.lead = f.PortName(m.Src), toPort(f, m.Src)
	}
	if m.Dst != fabric.None {
		out.To, out.lead = f.PortName(m.Dst), toPort(f, m.Dst)
	}
	if len(m.Ports) > 0 {
		out.lead = toPort(f, m.Ports[0])
	}
	for _, p := range m.Ports {
		out.Path = append(out.Path, f.PortName(p))
	}
	return out
}

// wrong says how much of each kind is wrong.
func (a *mcastAnswer) wrong() []string {
	var words []string
	for _, k := range []struct {
		n    int64
		what string
	}{
		{a.Missing, "pairs missing"}, {a.Double, "pairs served twice"}, {a.Unknown, "pairs over tables that were not read"},
		{int64(a.Echoes), "members that get back what they send"}, {int64(a.Cycles), "LIDs with a cycle"},
		{int64(a.Strangers), "ports to strangers"}, {int64(a.DeadPorts), "ports without a link"}, {int64(a.OneWays), "one-way branches"},
	} {
		if k.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", k.n, k.what))
		}
	}
	return words
}

func (a *mcastAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("mcast of %s: %s of %s, %s, %d pairs", a.Of, count(a.LIDs, "multicast LID"), a.Groups, count(a.Members, "member"), a.Pairs)
	if a.Gone > 0 {
		line("  %s not in the subnet", count(a.Gone, "member"))
	}
	if a.Alone > 0 {
		line("  %s with less than two members, without entries", count(a.Alone, "LID"))
	}
	if a.Idle > 0 {
		line("  %s on branches that lead to no member", count(a.Idle, "switch"))
	}
	if a.SendOnly > 0 {
		line("  %s to members that only send, as OpenSM has it", count(a.SendOnly, "port"))
	}
	a.tablesNotRead.text(w)
	if a.Counts.Verdict() == verdict.OK {
		line("  every member gets each packet once")
	}
	for _, words := range a.wrong() {
		line("  %s", words)
	}
	for _, f := range a.Faults {
		line("    %s", f.text())
	}
	switch {
	case a.Loop == credits.Unknown:
		line("  %s", unknownLoop(a.Why, a.Try))
		return
	case a.Loop == credits.None:
		line("  no credit loop of unicast and multicast together")
		return
	case a.Mixed:
		line("  a credit loop that unicast alone has not:")
	default:
		line("  a credit loop:")
	}
	for i := range a.Ring {
		line("    %s", a.Ring[i].text())
	}
}

func (f *mcastFault) text() string {
	at := strings.Join(f.Path, ", ")
	switch f.Kind {
	case mcast.Missing:
		return fmt.Sprintf("%s: %s does not get what %s sends", f.MLID, f.To, f.From)
	case mcast.Double:
		return fmt.Sprintf("%s: %s gets twice what %s sends", f.MLID, f.To, f.From)
	case mcast.Echo:
		return fmt.Sprintf("%s: %s gets back what it sends", f.MLID, f.From)
	case mcast.Cycle:
		return fmt.Sprintf("%s: packets go round: %s", f.MLID, strings.Join(f.Path, " -> "))
	case mcast.Stranger:
		return fmt.Sprintf("%s: %s sends to %s, which is not in the group", f.MLID, at, f.To)
	case mcast.DeadPort:
		return fmt.Sprintf("%s: %s has no link", f.MLID, at)
	case mcast.OneWay:
		return fmt.Sprintf("%s: %s leads to a switch that does not send back", f.MLID, at)
	case mcast.NotRead:
		return fmt.Sprintf("%s: packets meet a switch behind %s whose table was not read", f.MLID, at)
	}
	return string(f.Kind)
}
