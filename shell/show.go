// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/lang"
)

func showCommands() []command {
	of := []lang.Option{ofOption()}
	node := []lang.Arg{{Name: "NODE", Kind: lang.KindNode, Optional: true}}
	return []command{{lang.Spec{Name: "show", Summary: "list what is in the subnet", Options: of, Subcommands: []lang.Spec{
		{Name: "nodes", Summary: "all nodes, or one", Args: node},
		{Name: "switches", Summary: "the switches"},
		{Name: "links", Summary: "the links, of one node or all", Args: node},
		{Name: "ports", Summary: "the ports of a node", Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		{Name: "lft", Summary: "the forwarding table of a switch", Args: []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
		{Name: "roots", Summary: "the switches that the engine took for roots"},
		{Name: "ranks", Summary: "the switches by their distance from the roots"},
		{Name: "sms", Summary: "the subnet managers that were seen"},
		{Name: "counters", Summary: "the error counters of all ports that have any, or all counters of a node's; what grew since the last time",
			Args:    []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
			Options: []lang.Option{{Name: "all", Kind: lang.KindFlag, Summary: "all ports and counters"}}},
		{Name: "sl2vl", Summary: "the virtual lanes of a node's service levels", Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		{Name: "vlarb", Summary: "how the ports of a node share their links among virtual lanes", Args: []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace}}},
		{Name: "sl", Summary: "the service levels of paths", Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace},
			{Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}, Optional: true}}},
		{Name: "torus", Summary: "the switches at their coordinates, after torus-2QoS"},
		{Name: "mft", Summary: "the multicast table of a switch", Args: []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
		{Name: "failures", Summary: "what has failed and was repaired on paper, with the numbers that undo takes"},
		{Name: "pictures", Summary: "live, base, what-if and staged side by side"},
		{Name: "groups", Summary: "the multicast groups, or the members of one",
			Args: []lang.Arg{{Name: "MLID", Kind: lang.KindText, Optional: true}}},
		{Name: "targets", Summary: "whom this session asked, how often, and how fast they answer; the worst first"},
		{Name: "holes", Summary: "what did not answer the last sweep"},
		{Name: "events", Summary: "what sweeps found to be new, with the time"},
	}}, runShow}}
}

func runShow(c *call) error {
	switch c.Spec.Name {
	case "nodes":
		return c.showNodes(func(*fabric.Node) bool { return true })
	case "switches":
		return c.showNodes(func(n *fabric.Node) bool { return n.IsSwitch() })
	case "links":
		return c.showLinks()
	case "ports":
		return c.showPorts()
	case "lft":
		return c.showLFT()
	case "roots":
		return c.showRanks(true)
	case "ranks":
		return c.showRanks(false)
	case "sms":
		return c.showSMs()
	case "counters":
		return c.showCounters()
	case "sl2vl":
		return c.showSL2VL()
	case "vlarb":
		return c.showVLArb()
	case "sl":
		return c.showSL()
	case "torus":
		return c.showTorus()
	case "mft":
		return c.showMFT()
	case "failures":
		return runWhatIf(c)
	case "pictures":
		return c.showPictures()
	case "groups":
		return c.showGroups()
	case "targets":
		return c.showTargets()
	case "holes":
		return c.showHoles()
	case "events":
		return showEvents(c)
	}
	return fmt.Errorf("nothing to show is called %q", c.Spec.Name)
}

// table prints rows of columns to people, or objects to programs.
type table struct {
	c       *call
	tw      *tabwriter.Writer
	columns []string
}

func (c *call) table(columns ...string) *table {
	t := &table{c: c, tw: tabwriter.NewWriter(c.out.W, 0, 0, 2, ' ', 0), columns: columns}
	if !c.out.JSON {
		_, _ = fmt.Fprintln(t.tw, strings.Join(columns, "\t"))
	}
	return t
}

// row prints obj as JSON, else the cells.
func (t *table) row(obj any, cells ...any) error {
	return t.c.out.answer(obj, func(io.Writer) {
		for i, cell := range cells {
			if i > 0 {
				_, _ = fmt.Fprint(t.tw, "\t")
			}
			_, _ = fmt.Fprint(t.tw, cell)
		}
		_, _ = fmt.Fprintln(t.tw)
	})
}

func (t *table) flush() error { return t.tw.Flush() }

type nodeRow struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	GUID     string `json:"guid"`
	LID      uint16 `json:"lid"`
	Ports    int    `json:"ports"`
	Up       int    `json:"up"`
	InSubnet bool   `json:"in_subnet"`
}

func (c *call) showNodes(want func(*fabric.Node) bool) error {
	st, p, err := c.of()
	if err != nil {
		return err
	}
	f := p.Fabric
	var only fabric.NodeIndex = fabric.None
	if c.Arg(0) != "" {
		if only, err = places.ResolveNode(f, c.Arg(0)); err != nil {
			return err
		}
	}
	c.out.note("of %s", st.Title(p))
	t := c.table("LID", "GUID", "TYPE", "UP/PORTS", "NAME")
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if !want(n) || (only != fabric.None && only != fabric.NodeIndex(i)) {
			continue
		}
		r := nodeRow{f.NodeName(fabric.NodeIndex(i)), typeWord(n.Type), guidText(n.GUID), nodeLID(f, n), int(n.NumPorts), portsUp(f, n), n.InSubnet}
		name := r.Name
		if !r.InSubnet {
			name += "  (not in the subnet)"
		}
		if err := t.row(r, lidText(r.LID), r.GUID, r.Type, fmt.Sprintf("%d/%d", r.Up, r.Ports), name); err != nil {
			return err
		}
	}
	return t.flush()
}

func typeWord(t mad.NodeType) string {
	switch t {
	case mad.NodeSwitch:
		return "switch"
	case mad.NodeCA:
		return "ca"
	case mad.NodeRouter:
		return "router"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

func guidText(g uint64) string { return fmt.Sprintf("0x%016x", g) }

func lidText(lid uint16) string {
	if lid == 0 {
		return "-"
	}
	return fmt.Sprint(lid)
}

// nodeLID is the LID of port 0 of a switch, of the first port that has one elsewhere.
func nodeLID(f *fabric.Fabric, n *fabric.Node) uint16 {
	for p := range n.Slots() {
		if f.Ports[p].LID != 0 {
			return f.Ports[p].LID
		}
	}
	return 0
}

func portsUp(f *fabric.Fabric, n *fabric.Node) int {
	up := 0
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			up++
		}
	}
	return up
}

type linkRow struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Width string `json:"width"`
	Speed string `json:"speed"`
	State string `json:"state"`
}

func (c *call) showLinks() error {
	st, p, err := c.of()
	if err != nil {
		return err
	}
	f := p.Fabric
	var only fabric.NodeIndex = fabric.None
	if c.Arg(0) != "" {
		if only, err = places.ResolveNode(f, c.Arg(0)); err != nil {
			return err
		}
	}
	c.out.note("of %s", st.Title(p))
	c.noteFile()
	t := c.table("PORT", "PORT", "LINK", "STATE")
	for _, l := range f.Links() {
		a, b := l.A, l.B
		if only != fabric.None && f.Ports[b].Node == only {
			a, b = b, a
		}
		if only != fabric.None && f.Ports[a].Node != only {
			continue
		}
		r := linkRow{f.PortName(a), f.PortName(b), f.Ports[a].Width.String(), f.Ports[a].Speed.String(), stateText(&f.Ports[a])}
		if err := t.row(r, r.A, r.B, r.Width+r.Speed, r.State); err != nil {
			return err
		}
	}
	return t.flush()
}

// stateText is the state of a port's link, "not read" where the port did not tell.
func stateText(p *fabric.Port) string {
	if p.State == mad.PortNoChange {
		return "not read"
	}
	return p.State.String()
}

type portRow struct {
	Port  int    `json:"port"`
	GUID  string `json:"guid,omitempty"`
	LID   uint16 `json:"lid,omitempty"`
	State string `json:"state"`
	Width string `json:"width,omitempty"`
	Speed string `json:"speed,omitempty"`
	Peer  string `json:"peer,omitempty"`
}

func (c *call) showPorts() error {
	st, p, err := c.of()
	if err != nil {
		return err
	}
	f := p.Fabric
	node, err := places.ResolveNode(f, c.Arg(0))
	if err != nil {
		return err
	}
	c.out.note("%s of %s", f.NodeName(node), st.Title(p))
	t := c.table("PORT", "STATE", "LID", "LINK", "PEER")
	n := &f.Nodes[node]
	for num := range int(n.NumPorts) + 1 {
		i := f.PortAt(node, num)
		if i == fabric.None {
			continue
		}
		port := &f.Ports[i]
		r := portRow{Port: num, LID: port.LID, State: stateText(port)}
		link := "-"
		if port.GUID != 0 {
			r.GUID = guidText(port.GUID)
		}
		if port.Linked() {
			r.Width, r.Speed, r.Peer = port.Width.String(), port.Speed.String(), f.PortName(port.Peer)
			link = r.Width + r.Speed
		}
		if err := t.row(r, num, r.State, lidText(port.LID), link, r.Peer); err != nil {
			return err
		}
	}
	return t.flush()
}

type lftRow struct {
	LID  uint16 `json:"lid"`
	Port uint8  `json:"port"`
	To   string `json:"destination"`
	Next string `json:"next_hop,omitempty"`
}

func (c *call) showLFT() error {
	st, p, err := c.tablesOf()
	if err != nil {
		return err
	}
	f := p.Fabric
	sw, err := places.ResolveSwitch(f, c.Arg(0))
	if err != nil {
		return err
	}
	if !p.Tables.Known[sw] {
		return fmt.Errorf("the table of %s is not known in %s", f.NodeName(f.Switches[sw]), st.Title(p))
	}
	c.out.note("%s of %s", f.NodeName(f.Switches[sw]), st.Title(p))
	t := c.table("LID", "PORT", "NEXT HOP", "DESTINATION")
	for lid := uint16(1); lid <= p.Tables.Top[sw]; lid++ {
		out := p.Tables.Port(sw, lid)
		if out == fabric.NoPath {
			continue
		}
		r := lftRow{LID: lid, Port: out, To: "-"}
		if e := f.PortByLID(lid); e != fabric.None {
			r.To = f.PortName(e)
		}
		if i := f.PortAt(f.Switches[sw], int(out)); out > 0 && i != fabric.None && f.Ports[i].Linked() {
			r.Next = f.PortName(f.Ports[i].Peer)
		}
		if err := t.row(r, lid, out, orDash(r.Next), r.To); err != nil {
			return err
		}
	}
	return t.flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (c *call) showSMs() error {
	st := c.session.State()
	if len(st.SMs) == 0 && !c.out.JSON {
		_, err := fmt.Fprintln(c.out.W, "no subnet manager was seen")
		return err
	}
	for _, sm := range st.SMs {
		row := struct {
			GUID     string `json:"guid"`
			Port     string `json:"port"`
			Priority uint8  `json:"priority"`
			State    string `json:"state"`
		}{guidText(sm.GUID), sm.Port, sm.Priority, sm.State}
		if err := c.out.answer(row, func(w io.Writer) { _, _ = fmt.Fprintln(w, smText(sm)) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) showHoles() error {
	holes := c.session.State().Unanswered
	return c.out.answer(struct {
		Holes []string `json:"holes"`
	}{holes}, func(w io.Writer) {
		if len(holes) == 0 {
			_, _ = fmt.Fprintln(w, "everything answered the last sweep")
		}
		for _, h := range holes {
			_, _ = fmt.Fprintln(w, h)
		}
	})
}
