// SPDX-License-Identifier: Apache-2.0

// Package balance measures how evenly tables and traffic use the ports of switches.
package balance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/balance"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the commands balance.
var Feature = feature.Feature{Name: "balance", Commands: []feature.Command{
	{
		Path: "balance", Group: feature.GroupLook, Summary: "Measure how evenly tables and traffic use ports",
		Options: []lang.Option{feature.OfOption()},
	},
	{
		Path: "balance switch", Summary: "Count the LIDs that leave by each port of a switch",
		Help: "balance switch counts the LIDs on the ports that lead to other switches. It lists a switch if two of " +
			"these ports\ndiffer by more than one LID, as OpenSM's switchbalance.\n",
		Args:     []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch, Optional: true}},
		Options:  []lang.Option{{Name: "all", Kind: lang.KindFlag, Summary: "list balanced switches, too"}},
		Examples: []string{"balance switch", "balance switch all", "balance switch leaf-01"},
		Answers:  []answer.Declared{&switchDecl},
		Run:      runSwitches,
	},
	{
		Path: "balance lid", Summary: "Find switches that use too few ports for the LIDs of a port",
		Help: "If a port has several LIDs, a switch should send them to different neighbours, over different ports. " +
			"balance lid lists\nthe switches that do not do so, like OpenSM's lidbalance.",
		Args: []lang.Arg{{Name: "SWITCH|PLACE", Kind: lang.KindPlace, Optional: true}},
		Examples: []string{
			"balance lid leaf-01",
			"engine minhop lmc=2; route; balance lid leaf-01",
		},
		Answers: []answer.Declared{&lidDecl},
		Run:     runLIDs,
	},
	{
		Path: "balance hot", Summary: "List the ports that send most, with their paths",
		Help: "The traffic of a port is the growth of its counters between two readings. It is shown together with " +
			"the\nnumber of paths over the port.\n",
		Options: []lang.Option{{Name: "limit", Kind: lang.KindInt, Summary: "number of listed ports (default 20)"}},
		Examples: []string{
			"balance hot",
			"balance hot limit=5",
		},
		Answers: []answer.Declared{&hotDecl},
		Run:     runHot,
	},
}}

// switches holds the balance of switches.
type switches struct {
	Switches   int `key:"switches" name:"switches"`
	Unbalanced int `key:"unbalanced" name:"unbalanced"`
	Unknown    int `key:"unknown" name:"unknown" help:"switches whose forwarding table was not read"`

	f    *fabric.Fabric
	list []balance.Switch // the switches that are listed
}

// portRow is a port to another switch. A switch whose table was not read has a single row, without a port.
type portRow struct {
	Switch   answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	Port     answer.Value `key:"port" name:"PORT" kind:"int"`
	To       answer.Value `key:"to" name:"TO" kind:"place"`
	LIDs     answer.Value `key:"lids" name:"LIDS" kind:"int" help:"LIDs of hosts and routers that leave by the port"`
	Balanced answer.Value `key:"balanced" name:"BALANCED" kind:"bool" help:"within one LID"`
	answer.Lead
}

var portTable = answer.Table[portRow]{
	Key: "ports", Title: "ports to switches", Fields: answer.Fields[portRow](), Stream: true,
}

var switchDecl = answer.Decl[*switches]{
	Command: "balance switch", Help: "the LIDs that leave by each port to a switch", Facts: answer.Fields[*switches](),
	Layout: []answer.Item[*switches]{{Table: answer.Show(&portTable, (*switches).ports)}},
	Draw: func(w *answer.Canvas, _ answer.Basis, s *switches) {
		for i := range s.list {
			s.list[i].Text(w, s.f)
		}
		w.Line("%s", s.summary())
	},
	Verdict: func(s *switches) (answer.Verdict, string) { return judge(s.Unbalanced, s.Unknown, s.summary()) },
	Fails:   answer.Asked,
}

func (s *switches) summary() string {
	return fmt.Sprintf("%d of %s unbalanced%s", s.Unbalanced, prose.Count(s.Switches, "switch"), notReadText(s.Unknown))
}

// notReadText returns a text such as ", 2 switches unknown: not read", or "" if all were read.
func notReadText(switches int) string {
	return prose.When(switches == 0, "", fmt.Sprintf(", %s unknown: not read", prose.Count(switches, "switch")))
}

// judge returns the verdict from the numbers of bad items and of unread items.
func judge(bad, unread int, summary string) (answer.Verdict, string) {
	v := verdict.Of(bad > 0, unread > 0)
	return v, prose.When(v == answer.OK, "", summary)
}

func (s *switches) ports() answer.Rows[portRow] {
	var rows []portRow
	for i := range s.list {
		sw := &s.list[i]
		node := s.f.Switches[sw.Switch]
		if sw.Verdict == answer.Unknown {
			rows = append(rows, portRow{
				Switch: answer.Node(s.f, node), LIDs: answer.NotRead(), Balanced: answer.NotRead(),
				Lead: feature.ToNode(s.f, node),
			})
			continue
		}
		for _, n := range sw.Ports {
			port := s.f.PortAt(node, int(n.Port))
			rows = append(rows, portRow{
				answer.Node(s.f, node), answer.PortNumber(s.f, port), answer.Port(s.f, s.f.Ports[port].Peer),
				answer.Int(n.LIDs),
				answer.Bool(sw.Verdict == answer.OK),
				feature.ToPort(s.f, port),
			})
		}
	}
	return answer.Slice(rows)
}

func runSwitches(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	s := switches{f: p.Fabric}
	var of []fabric.SwitchIndex
	if name := c.Arg(0); name != "" {
		sw, err := places.ResolveSwitch(s.f, name)
		if err != nil {
			return err
		}
		of = append(of, sw)
	} else {
		for sw, n := range s.f.Switches {
			if s.f.Nodes[n].InSubnet {
				of = append(of, fabric.SwitchIndex(sw))
			}
		}
	}
	s.Switches = len(of)
	for _, sw := range of {
		x := balance.OfSwitch(p.Tables, sw)
		switch x.Verdict {
		case answer.Found:
			s.Unbalanced++
		case answer.Unknown:
			s.Unknown++
		}
		if x.Verdict != answer.OK || c.Arg(0) != "" || c.Flag("all") {
			s.list = append(s.list, x)
		}
		if err := c.Ctx.Err(); err != nil {
			return err
		}
	}
	return c.Answer(switchDecl.Answer(basis(st, p), &s))
}

func basis(st *session.State, p *session.Picture) answer.Basis {
	return st.Basis(p, session.NeedLinks|session.NeedTables)
}

// ends is the answer of the command that checks how evenly the LIDs of each end port are spread over the ports of
// switches.
type ends struct {
	Uneven  int `key:"uneven" name:"uneven" help:"pairs of a switch and an end port"`
	Unknown int `key:"unknown" name:"unknown" help:"switches whose forwarding table was not read"`

	f    *fabric.Fabric
	list []end
}

// end describes how evenly the LIDs of one end port are spread over the ports of one switch.
type end struct {
	sw           fabric.SwitchIndex
	*balance.End // nil if the table of the switch was not read
}

// endRow is a switch and an end port. A switch whose table was not read has a single row, without an end port.
type endRow struct {
	Switch       answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	To           answer.Value `key:"to" name:"TO" kind:"place"`
	LID          answer.Value `key:"lid" name:"LID" kind:"lid"`
	Uneven       answer.Value `key:"uneven" name:"UNEVEN" kind:"texts" help:"neighbours, ports, or both"`
	Neighbours   answer.Value `key:"neighbours" kind:"list"`
	ByNeighbour  answer.Value `key:"neighbour_lids" kind:"list" help:"LIDs for each of the neighbours"`
	NeighbourOut string       `name:"BY NEIGHBOUR"`
	Ports        answer.Value `key:"ports" kind:"list"`
	ByPort       answer.Value `key:"port_lids" kind:"list" help:"LIDs for each of the ports"`
	PortOut      string       `name:"BY PORT"`
	answer.Lead
}

var endTable = answer.Table[endRow]{
	Key: "ends", Title: "end ports", Fields: answer.Fields[endRow](), Stream: true,
}

var lidDecl = answer.Decl[*ends]{
	Command: "balance lid", Help: "switches that send the LIDs of an end port unevenly", Facts: answer.Fields[*ends](),
	Layout: []answer.Item[*ends]{{Table: answer.Show(&endTable, func(e *ends) answer.Rows[endRow] {
		return answer.Lazy(len(e.list), func(i int) endRow { return endRowOf(e.f, e.list[i]) })
	})}},
	Draw: func(w *answer.Canvas, _ answer.Basis, e *ends) {
		for _, x := range e.list {
			if x.End == nil {
				w.Line("Switch %s: its forwarding table was not read", e.f.NodeName(e.f.Switches[x.sw]))
				continue
			}
			x.Text(w, e.f)
		}
		w.Line("%s", e.summary())
	},
	Verdict: func(e *ends) (answer.Verdict, string) { return judge(e.Uneven, e.Unknown, e.summary()) },
	Fails:   answer.Asked,
}

func (e *ends) summary() string { return fmt.Sprintf("%d uneven%s", e.Uneven, notReadText(e.Unknown)) }

func endRowOf(f *fabric.Fabric, e end) endRow {
	row := endRow{Switch: answer.Node(f, f.Switches[e.sw]), Lead: feature.ToNode(f, f.Switches[e.sw])}
	if e.End == nil {
		row.Uneven = answer.NotRead()
		return row
	}
	row.To, row.LID = answer.Port(f, e.Port), answer.LID(f.Ports[e.Port].LID)
	var uneven, byNeighbour, byPort []string
	if e.UnevenNeighbours {
		uneven = append(uneven, "neighbours")
	}
	if e.UnevenPorts {
		uneven = append(uneven, "ports")
	}
	var neighbours, neighbourLIDs, ports, portLIDs []answer.Value
	for _, n := range e.Neighbours {
		neighbours, neighbourLIDs = append(neighbours, answer.Node(f, n.Node)),
			append(neighbourLIDs, answer.Int(n.LIDs))
		byNeighbour = append(byNeighbour, fmt.Sprintf("%s %d", f.NodeName(n.Node), n.LIDs))
	}
	for _, n := range e.Ports {
		ports, portLIDs = append(ports, answer.Int(n.Port)), append(portLIDs, answer.Int(n.LIDs))
		byPort = append(byPort, fmt.Sprintf("%d: %d", n.Port, n.LIDs))
	}
	row.Uneven = answer.Texts(uneven)
	row.Neighbours, row.ByNeighbour, row.NeighbourOut = answer.List(neighbours), answer.List(neighbourLIDs),
		strings.Join(byNeighbour, ", ")
	row.Ports, row.ByPort, row.PortOut = answer.List(ports), answer.List(portLIDs), strings.Join(byPort, ", ")
	return row
}

func runLIDs(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	f := p.Fabric
	only, to := fabric.SwitchIndex(fabric.None), fabric.PortIndex(fabric.None)
	if c.Arg(0) != "" {
		place, err := places.Resolve(f, c.Arg(0))
		if err != nil {
			return err
		}
		if only = f.Nodes[place.Node].Switch; only == fabric.None {
			to = place.Port
		}
	}
	e := ends{f: f}
	for i, n := range f.Switches {
		sw := fabric.SwitchIndex(i)
		if !f.Nodes[n].InSubnet || only != fabric.None && sw != only {
			continue
		}
		if !p.Tables.Known[sw] {
			e.Unknown++
			e.list = append(e.list, end{sw, nil})
			continue
		}
		for _, port := range f.EndPorts {
			if f.Nodes[f.Ports[port].Node].IsSwitch() || to != fabric.None && port != to {
				continue
			}
			if b := balance.OfEnd(p.Tables, sw, port); b.UnevenNeighbours || b.UnevenPorts {
				e.Uneven++
				e.list = append(e.list, end{sw, &b})
			}
		}
		if err := c.Ctx.Err(); err != nil {
			return err
		}
	}
	return c.Answer(lidDecl.Answer(basis(st, p), &e))
}

// The type hot is the answer that compares the traffic of ports between switches with the number of their paths.
type hot struct {
	Ports       int          `key:"ports_read" name:"ports" help:"ports between switches that were read"`
	Correlation answer.Value `key:"correlation" name:"correlation" kind:"float" help:"of traffic and paths"`

	rows  []hotPort
	limit int
}

// hotPort is a port between switches with its traffic and the number of paths that use it.
type hotPort struct {
	Port   answer.Value `key:"port" name:"PORT" kind:"place"`
	To     answer.Value `key:"to" name:"TO" kind:"place"`
	GBs    answer.Value `key:"gigabytes_per_second" name:"GB/S" kind:"float"`
	Used   float64      `key:"used" help:"utilization of the link, from 0 to 1"`
	UsedIn string       `name:"USED"`
	Waits  float64      `key:"waits_per_second" help:"XmitWait"`
	WaitsS string       `name:"WAITS/S"`
	Paths  int64        `key:"paths" name:"PATHS" help:"paths of all to all"`
	OfMean answer.Value `key:"of_mean_paths" name:"OF MEAN" kind:"float" help:"paths divided by their mean"`
	sent   float64
	answer.Lead
}

var hotTable = answer.Table[hotPort]{
	Key: "ports", Title: "ports by traffic", Fields: answer.Fields[hotPort](), Stream: true,
}

var hotDecl = answer.Decl[*hot]{
	Command: "balance hot", Help: "the ports between switches that sent most", Facts: answer.Fields[*hot](),
	Layout: []answer.Item[*hot]{
		{Line: "{?correlation}traffic and paths of {ports_read|port} between switches: correlation {correlation} " +
			"(1: traffic follows the paths)"},
		{Table: answer.Show(&hotTable, func(h *hot) answer.Rows[hotPort] {
			rows := answer.Slice(h.rows[:min(h.limit, len(h.rows))])
			rows.More = int64(len(h.rows) - rows.N)
			return rows
		})},
	},
}

func runHot(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	if err := c.CountTwice(); err != nil {
		return err
	}
	l, err := c.Session.Analysis().Load(c.Ctx, p.Tables, linkload.Options{})
	if err != nil {
		return err
	}
	f, mean := p.Fabric, meanBetween(l)
	h := hot{limit: limit}
	var rates, paths []float64
	for _, x := range feature.TrafficNow(c.Session.State().Counted, f) {
		row := hotPort{
			Port: answer.Port(f, x.Port), To: answer.Port(f, f.Ports[x.Port].Peer), GBs: answer.Float(x.Bytes/1e9, 3),
			Used: x.Used(f), UsedIn: fmt.Sprintf("%.1f %%", 100*x.Used(f)),
			Waits: x.Waits, WaitsS: fmt.Sprintf("%.3g", x.Waits), Paths: l.Paths[x.Port], OfMean: answer.Float(0, 2),
			sent: x.Bytes, Lead: feature.ToPort(f, x.Port),
		}
		if mean > 0 {
			row.OfMean = answer.Float(float64(row.Paths)/mean, 2)
		}
		h.rows, rates, paths = append(h.rows, row), append(rates, x.Bytes), append(paths, float64(row.Paths))
	}
	h.Ports = len(h.rows)
	slices.SortStableFunc(h.rows, func(a, b hotPort) int { return cmp.Compare(b.sent, a.sent) })
	if k, ok := feature.Correlation(rates, paths); ok {
		h.Correlation = answer.Float(k, 2)
	}
	return c.Answer(hotDecl.Answer(basis(st, p), &h))
}

// meanBetween returns the mean number of paths over the used links between switches.
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
