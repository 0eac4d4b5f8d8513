// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/balance"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func balanceCommands() []Spec {
	return []Spec{{Name: "balance", Summary: "how evenly the tables use the ports of switches, and how evenly traffic does",
		Options: []lang.Option{feature.OfOption()},
		Subcommands: []Spec{
			{Name: "switch", Summary: "the LIDs that leave by each port to a switch, of switches where two ports differ by more than one; as OpenSM's switchbalance", Run: onTables((*call).balanceSwitches),
				Args:    []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch, Optional: true}},
				Options: []lang.Option{{Name: "all", Kind: lang.KindFlag, Summary: "the balanced ones, too"}}},
			{Name: "lid", Summary: "switches that send the LIDs of a port unevenly over neighbours or ports; as OpenSM's lidbalance", Run: onTables((*call).balanceLIDs),
				Args: []lang.Arg{{Name: "SWITCH|PLACE", Kind: lang.KindPlace, Optional: true}}},
			{Name: "hot", Summary: "the ports that send most by their counters, beside the paths that the tables lay over them", Run: onTables((*call).hotPorts),
				Options: []lang.Option{{Name: "limit", Kind: lang.KindInt, Summary: "how many to list; 20"}}},
		}}}
}

type balanceSwitch struct {
	Switch string `json:"switch"`
	GUID   string `json:"guid"`
	// Unbalanced and Ports are null where the switch's table was not read.
	Unbalanced *bool                `json:"unbalanced"`
	Ports      *[]balance.PortCount `json:"ports"`
	of         *balance.Switch
	f          *fabric.Fabric
}

func balanceSwitchOf(f *fabric.Fabric, s *balance.Switch) *balanceSwitch {
	row := &balanceSwitch{Switch: f.NodeName(f.Switches[s.Switch]), GUID: guidText(f.SwitchNode(s.Switch).GUID), of: s, f: f}
	if s.Verdict != verdict.Unknown {
		unbalanced := s.Verdict == verdict.Found
		row.Unbalanced, row.Ports = &unbalanced, &s.Ports
	}
	return row
}

func (a *balanceSwitch) Text(w io.Writer) { a.of.Text(w, a.f) }

// Tables has a row a port, and one without a port of a switch whose table was not read.
func (a *balanceSwitch) Tables() []Table {
	columns := []string{"SWITCH", "PORT", "TO", "LIDS", "BALANCED"}
	if a.of.Verdict == verdict.Unknown {
		row := plainRow{leads{toNode(a.f, a.f.Switches[a.of.Switch])}, []any{a.Switch, "-", "-", "not read", "unknown"}}
		return []Table{{Title: listTitle, Columns: columns, Rows: []Row{row}}}
	}
	return []Table{tableOf(listTitle, columns, a.of.Ports, func(n balance.PortCount) plainRow {
		port := a.f.PortAt(a.f.Switches[a.of.Switch], int(n.Port))
		return plainRow{leads{toPort(a.f, port)}, []any{a.Switch, n.Port, peerName(a.f, port), n.LIDs, prose.When(a.of.Verdict == verdict.Found, "no", "yes")}}
	})}
}

// peerName names what is at the other end of a port's link, "-" where there is none.
func peerName(f *fabric.Fabric, port fabric.PortIndex) string {
	if port == fabric.None || !f.Ports[port].Linked() {
		return "-"
	}
	return f.PortName(f.Ports[port].Peer)
}

func (c *call) balanceSwitches(st *session.State, p *session.Picture) error {
	f := p.Fabric
	switches, one, err := c.namedSwitch(f)
	if err != nil {
		return err
	}
	c.out.note("of %s", st.Title(p))
	var counts [verdict.Unknown + 1]int
	for _, sw := range switches {
		s := balance.OfSwitch(p.Tables, sw)
		if counts[s.Verdict]++; s.Verdict == verdict.OK && !one && !c.Flag("all") {
			continue
		}
		if err := c.out.Answer(balanceSwitchOf(f, &s)); err != nil {
			return err
		}
	}
	c.out.note("%d of %s unbalanced%s", counts[verdict.Found], count(len(switches), "switch"), notReadText(counts[verdict.Unknown]))
	return c.ctx.Err()
}

// notReadText returns ", 2 switches unknown: not read", "" for none.
func notReadText(switches int) string {
	if switches == 0 {
		return ""
	}
	return fmt.Sprintf(", %s unknown: not read", count(switches, "switch"))
}

// namedSwitch is the switch that is named, or all of the subnet.
func (c *call) namedSwitch(f *fabric.Fabric) (switches []fabric.SwitchIndex, one bool, err error) {
	if name := c.Arg(0); name != "" {
		sw, err := places.ResolveSwitch(f, name)
		return []fabric.SwitchIndex{sw}, true, err
	}
	for sw, n := range f.Switches {
		if f.Nodes[n].InSubnet {
			switches = append(switches, fabric.SwitchIndex(sw))
		}
	}
	return switches, false, nil
}

type balanceEnd struct {
	Switch string `json:"switch"`
	// Unknown says that the switch's table was not read; there is nothing else then.
	Unknown    bool                `json:"unknown,omitempty"`
	To         string              `json:"to,omitempty"`
	LID        uint16              `json:"lid,omitempty"`
	Uneven     []string            `json:"uneven,omitempty"`
	Neighbours []balanceNeighbour  `json:"neighbours,omitempty"`
	Ports      []balance.PortCount `json:"ports,omitempty"`
	of         *balance.End
	f          *fabric.Fabric
}

func (a *balanceEnd) Text(w io.Writer) {
	if a.Unknown {
		_, _ = fmt.Fprintf(w, "Switch %s: its forwarding table was not read\n", a.Switch)
		return
	}
	a.of.Text(w, a.f)
}

// Tables has it as a row.
func (a *balanceEnd) Tables() []Table {
	if a.Unknown {
		return []Table{{Title: listTitle, Columns: balanceEndColumns, Rows: []Row{plainRow{leads{}, []any{a.Switch, "-", "-", "unknown: not read", "-", "-"}}}}}
	}
	neighbours := prose.Words(a.Neighbours, func(n balanceNeighbour) string { return fmt.Sprintf("%s %d", n.Name, n.LIDs) })
	ports := prose.Words(a.Ports, func(n balance.PortCount) string { return fmt.Sprintf("%d: %d", n.Port, n.LIDs) })
	return []Table{tableOf(listTitle, balanceEndColumns, []*balanceEnd{a}, func(*balanceEnd) plainRow {
		return plainRow{leads{toNode(a.f, a.f.Switches[a.of.Switch])},
			[]any{a.Switch, a.To, a.LID, strings.Join(a.Uneven, ", "), strings.Join(neighbours, ", "), strings.Join(ports, ", ")}}
	})}
}

var balanceEndColumns = []string{"SWITCH", "TO", "LID", "UNEVEN", "BY NEIGHBOUR", "BY PORT"}

type balanceNeighbour struct {
	Name string `json:"name"`
	LIDs int    `json:"lids"`
}

func (c *call) balanceLIDs(st *session.State, p *session.Picture) error {
	f := p.Fabric
	only, end := fabric.SwitchIndex(fabric.None), fabric.PortIndex(fabric.None)
	if c.Arg(0) != "" {
		place, err := places.Resolve(f, c.Arg(0))
		if err != nil {
			return err
		}
		if only = f.Nodes[place.Node].Switch; only == fabric.None {
			end = place.Port
		}
	}
	c.out.note("of %s", st.Title(p))
	uneven, notRead := 0, 0
	for sw, n := range f.Switches {
		if !f.Nodes[n].InSubnet || only != fabric.None && fabric.SwitchIndex(sw) != only {
			continue
		}
		if !p.Tables.Known[sw] {
			notRead++
			if err := c.out.Answer(&balanceEnd{Switch: f.NodeName(n), Unknown: true}); err != nil {
				return err
			}
			continue
		}
		for _, e := range f.EndPorts {
			if f.Nodes[f.Ports[e].Node].IsSwitch() || end != fabric.None && e != end {
				continue
			}
			b := balance.OfEnd(p.Tables, fabric.SwitchIndex(sw), e)
			if !b.UnevenNeighbours && !b.UnevenPorts {
				continue
			}
			uneven++
			if err := c.out.Answer(balanceEndOf(f, &b)); err != nil {
				return err
			}
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	c.out.note("%d uneven%s", uneven, notReadText(notRead))
	return nil
}

func balanceEndOf(f *fabric.Fabric, b *balance.End) *balanceEnd {
	row := &balanceEnd{Switch: f.NodeName(f.Switches[b.Switch]), To: f.PortName(b.Port), LID: f.Ports[b.Port].LID, Ports: b.Ports, of: b, f: f}
	if b.UnevenNeighbours {
		row.Uneven = append(row.Uneven, "neighbours")
	}
	if b.UnevenPorts {
		row.Uneven = append(row.Uneven, "ports")
	}
	for _, n := range b.Neighbours {
		row.Neighbours = append(row.Neighbours, balanceNeighbour{f.NodeName(n.Node), n.LIDs})
	}
	return row
}

// hotPort is a port with what it sent and what the tables lay over it.
type hotPort struct {
	leads
	Port string `json:"port"`
	To   string `json:"to"`
	// GBs is in 10^9 bytes a second, Used the part of the link's rate.
	GBs    float64 `json:"gigabytes_per_second"`
	Used   float64 `json:"used"`
	Wait   float64 `json:"waits_per_second"`
	Paths  int64   `json:"paths"`         // those of all to all
	OfMean float64 `json:"of_mean_paths"` // Paths by their mean over the links between switches that are used
}

func (r hotPort) Cells() []any {
	return []any{r.Port, r.To, fmt.Sprintf("%.3f", r.GBs), fmt.Sprintf("%.1f %%", 100*r.Used), fmt.Sprintf("%.3g", r.Wait), r.Paths, fmt.Sprintf("%.2f", r.OfMean)}
}

// hotPorts holds what switch ports sent between two readings of the counters against the paths over them.
func (c *call) hotPorts(st *session.State, p *session.Picture) error {
	limit, err := c.atLeast("limit", maxListed, 1)
	if err != nil {
		return err
	}
	if err := c.countTwice(); err != nil {
		return err
	}
	c.out.note("of %s", st.Title(p))
	counted := c.session.State().Counted
	l, err := c.session.Analysis().Load(c.ctx, p.Tables, linkload.Options{})
	if err != nil {
		return err
	}
	mean, rows, rates, paths := meanBetween(l), []hotPort{}, []float64{}, []float64{}
	for _, x := range feature.SentNow(counted, p.Fabric) {
		row := hotPort{leads: leads{toPort(p.Fabric, x.Port)}, Port: p.Fabric.PortName(x.Port), To: p.Fabric.PortName(p.Fabric.Ports[x.Port].Peer), GBs: x.Bytes / 1e9, Used: x.Used(p.Fabric), Wait: x.Waits, Paths: l.Paths[x.Port]}
		if mean > 0 {
			row.OfMean = float64(row.Paths) / mean
		}
		rows, rates, paths = append(rows, row), append(rates, x.Bytes), append(paths, float64(row.Paths))
	}
	slices.SortStableFunc(rows, func(a, b hotPort) int { return cmp.Compare(b.GBs, a.GBs) })
	if k, ok := feature.Correlation(rates, paths); ok {
		c.out.note("traffic and paths of %d ports between switches: correlation %.2f (1: traffic is where the tables lay most paths)", len(rows), k)
	}
	return c.list([]string{"PORT", "TO", "GB/S", "USED", "WAITS/S", "PATHS", "OF MEAN"}, eachRow(rows[:min(limit, len(rows))]))
}

// meanBetween is the mean of the paths over links between switches that are used.
func meanBetween(l *linkload.Loads) float64 {
	var sum, n float64
	for i, paths := range l.Paths {
		if paths > 0 && linkload.ClassOf(l.Fabric, fabric.PortIndex(i)) == linkload.BetweenSwitches {
			sum, n = sum+float64(paths), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}
