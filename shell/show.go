// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func showCommands() []Spec {
	of := []lang.Option{ofOption()}
	node := []lang.Arg{{Name: "NODE", Kind: lang.KindNode, Optional: true}}
	return []Spec{{Name: "show", Summary: "list what is in the subnet", Options: of, Subcommands: []Spec{
		{Name: "nodes", Summary: "all nodes, or one", Run: onPicture(showNodes(false)), Args: node},
		{Name: "switches", Summary: "the switches", Run: onPicture(showNodes(true))},
		{Name: "links", Summary: "the links, of one node or all", Run: onPicture((*call).showLinks), Args: node},
		{Name: "ports", Summary: "the ports of a node", Run: onPicture((*call).showPorts), Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		{Name: "structure", Summary: "what kind of network it is: tiers, pods, planes, rails, directors, what nodes are for, and what is odd", Run: onPicture((*call).showStructure)},
		{Name: "lft", Summary: "the forwarding table of a switch", Run: onTables((*call).showLFT), Args: []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
		{Name: "sms", Summary: "the subnet managers that were seen", Run: (*call).showSMs},
		{Name: "counters", Summary: "the error counters of all ports that have any, or all counters of a node's; what grew since the last time", Run: (*call).showCounters,
			Args:    []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
			Options: []lang.Option{{Name: "all", Kind: lang.KindFlag, Summary: "all ports and counters"}}},
		{Name: "sl2vl", Summary: "the virtual lanes of a node's service levels", Run: onTables((*call).showSL2VL), Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		{Name: "sl", Summary: "the service levels of paths", Run: onTables((*call).showSL), Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace},
			{Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}, Optional: true}}, Options: askedOptions()},
		{Name: "torus", Summary: "the switches at their coordinates, datelines and lost links, after torus-2QoS; a path or a tree", Run: onTables((*call).showTorus),
			Options: torusOptions()},
		{Name: "failures", Summary: "what has failed, was repaired, added and moved on paper, with the numbers that undo takes", Run: runWhatIf},
		{Name: "pictures", Summary: "live, base, what-if and staged side by side", Run: (*call).showPictures},
		{Name: "groups", Summary: "the multicast groups, or the members of one", Run: onPicture((*call).showGroups),
			Args: []lang.Arg{{Name: "MLID", Kind: lang.KindText, Optional: true}}},
		{Name: "unanswered", Aliases: []string{"holes"}, Summary: "what did not answer the last sweep", Run: (*call).showUnanswered},
		{Name: "events", Summary: "what sweeps found to be new, with the time", Run: showEvents},
	}}}
}

type nodeRow struct {
	leads
	Name     string `json:"name"`
	Type     string `json:"type"`
	GUID     string `json:"guid"`
	LID      uint16 `json:"lid"`
	Ports    int    `json:"ports"`
	Up       int    `json:"up"`
	InSubnet bool   `json:"in_subnet"`
}

func (r nodeRow) Cells() []any {
	name := r.Name
	if !r.InSubnet {
		name += "  (not in the subnet)"
	}
	return []any{lidText(r.LID), r.GUID, r.Type, fmt.Sprintf("%d/%d", r.Up, r.Ports), name}
}

func showNodes(switches bool) reading {
	return func(c *call, st *session.State, p *session.Picture) error { return c.showNodes(st, p, switches) }
}

func (c *call) showNodes(st *session.State, p *session.Picture, switches bool) error {
	f := p.Fabric
	only, err := c.onlyNode(f)
	if err != nil {
		return err
	}
	c.out.note("of %s", st.Title(p))
	var rows []nodeRow
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if switches && !n.IsSwitch() || (only != fabric.None && only != fabric.NodeIndex(i)) {
			continue
		}
		rows = append(rows, nodeRow{leads{toNode(f, fabric.NodeIndex(i))}, f.NodeName(fabric.NodeIndex(i)), typeWord(n.Type), guidText(n.GUID), nodeLID(f, n), int(n.NumPorts), f.LinkedPorts(n), n.InSubnet})
	}
	return c.list([]string{"LID", "GUID", "TYPE", "UP/PORTS", "NAME"}, eachRow(rows))
}

// onlyNode is the node that is named, None for all.
func (c *call) onlyNode(f *fabric.Fabric) (fabric.NodeIndex, error) {
	if c.Arg(0) == "" {
		return fabric.None, nil
	}
	return places.ResolveNode(f, c.Arg(0))
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

func lidText(lid uint16) string { return prose.When(lid == 0, "-", fmt.Sprint(lid)) }

// nodeLID is the LID of port 0 of a switch, of the first port that has one elsewhere.
func nodeLID(f *fabric.Fabric, n *fabric.Node) uint16 {
	for p := range n.Slots() {
		if lid := f.LIDOf(p); lid != 0 {
			return lid
		}
	}
	return 0
}

type linkRow struct {
	leads
	A     string `json:"a"`
	B     string `json:"b"`
	Width string `json:"width"`
	Speed string `json:"speed"`
	State string `json:"state"`
}

func (r linkRow) Cells() []any { return []any{r.A, r.B, r.Width + r.Speed, r.State} }

func (c *call) showLinks(st *session.State, p *session.Picture) error {
	f := p.Fabric
	only, err := c.onlyNode(f)
	if err != nil {
		return err
	}
	c.out.note("of %s", st.Title(p))
	c.noteFile()
	var rows []linkRow
	unreachable := f.UnreachableNodes()
	for _, l := range f.Links() {
		a, b := l.A, l.B
		if only != fabric.None && f.Ports[b].Node == only {
			a, b = b, a
		}
		if only != fabric.None && f.Ports[a].Node != only {
			continue
		}
		rows = append(rows, linkRow{leads{toPort(f, a)}, f.PortName(a), f.PortName(b), f.Ports[a].Width.String(), f.Ports[a].Speed.String(), stateText(&f.Ports[a])})
		if f.IsUnreachable(l, unreachable) {
			rows[len(rows)-1].State = "unreachable"
		}
	}
	return c.list([]string{"PORT", "PORT", "LINK", "STATE"}, eachRow(rows))
}

// stateText is the state of a port's link, "not read" where the port did not tell.
func stateText(p *fabric.Port) string {
	if p.State == mad.PortNoChange {
		return "not read"
	}
	return p.State.String()
}

type portRow struct {
	leads
	Port  int    `json:"port"`
	GUID  string `json:"guid,omitempty"`
	LID   uint16 `json:"lid,omitempty"`
	State string `json:"state"`
	Width string `json:"width,omitempty"`
	Speed string `json:"speed,omitempty"`
	Peer  string `json:"peer,omitempty"`
}

func (r portRow) Cells() []any {
	return []any{r.Port, r.State, lidText(r.LID), orDash(r.Width + r.Speed), r.Peer}
}

func (c *call) showPorts(st *session.State, p *session.Picture) error {
	f := p.Fabric
	node, err := places.ResolveNode(f, c.Arg(0))
	if err != nil {
		return err
	}
	c.out.note("%s of %s", f.NodeName(node), st.Title(p))
	var rows []portRow
	n := &f.Nodes[node]
	for num := range int(n.NumPorts) + 1 {
		i := f.PortAt(node, num)
		if i == fabric.None {
			continue
		}
		port := &f.Ports[i]
		r := portRow{leads: leads{toPort(f, i)}, Port: num, LID: port.LID, State: stateText(port)}
		if port.GUID != 0 {
			r.GUID = guidText(port.GUID)
		}
		if port.Linked() {
			r.Width, r.Speed, r.Peer = port.Width.String(), port.Speed.String(), f.PortName(port.Peer)
		}
		rows = append(rows, r)
	}
	return c.list([]string{"PORT", "STATE", "LID", "LINK", "PEER"}, eachRow(rows))
}

type lftRow struct {
	leads
	LID  uint16 `json:"lid"`
	Port uint8  `json:"port"`
	To   string `json:"destination"`
	Next string `json:"next_hop,omitempty"`
}

func (r lftRow) Cells() []any { return []any{r.LID, r.Port, orDash(r.Next), r.To} }

func (c *call) showLFT(st *session.State, p *session.Picture) error {
	f := p.Fabric
	sw, err := places.ResolveSwitch(f, c.Arg(0))
	if err != nil {
		return err
	}
	if !p.Tables.Known[sw] {
		return fmt.Errorf("the table of %s is not known in %s", f.NodeName(f.Switches[sw]), st.Title(p))
	}
	c.out.note("%s of %s", f.NodeName(f.Switches[sw]), st.Title(p))
	var rows []lftRow
	for lid := uint16(1); lid <= p.Tables.Top[sw]; lid++ {
		out := p.Tables.Port(sw, lid)
		if out == fabric.NoPath {
			continue
		}
		r := lftRow{leads: leads{toPort(f, f.PortByLID(lid))}, LID: lid, Port: out, To: "-"}
		if e := f.PortByLID(lid); e != fabric.None {
			r.To = f.PortName(e)
		}
		if i := f.PortAt(f.Switches[sw], int(out)); out > 0 && i != fabric.None && f.Ports[i].Linked() {
			r.Next = f.PortName(f.Ports[i].Peer)
		}
		rows = append(rows, r)
	}
	return c.list([]string{"LID", "PORT", "NEXT HOP", "DESTINATION"}, eachRow(rows))
}

func orDash(s string) string { return cmp.Or(s, "-") }

type smRow struct {
	leads
	GUID     string `json:"guid"`
	Port     string `json:"port"`
	Priority uint8  `json:"priority"`
	State    string `json:"state"`
	Vendor   string `json:"vendor"` // of the node
	InSwitch bool   `json:"in_switch"`
	// Proof is of the one in charge.
	Proof *session.Proof `json:"as_subnet_manager,omitempty"`
	of    session.SM
}

func (r smRow) Cells() []any { return []any{smText(r.of)} }

var smDetails = []string{"PORT", "GUID", "PRIORITY", "STATE", "VENDOR", "IN A SWITCH"}

// Detail is the row in cells.
func (r smRow) Detail() []any {
	return []any{r.Port, r.GUID, r.Priority, r.State, r.Vendor, prose.When(r.InSwitch, "yes", "no")}
}

func (c *call) showSMs() error {
	st := c.session.State()
	proof := proofOf(&st)
	var rows []smRow
	for _, sm := range st.SMs {
		r := smRow{leads: leads{toPort(st.Live.Fabric, st.Live.Fabric.PortByGUID(sm.GUID))}, GUID: guidText(sm.GUID), Port: sm.Port, Priority: sm.Priority, State: sm.State,
			Vendor: fmt.Sprintf("0x%06x", sm.VendorID), InSwitch: sm.InSwitch, of: sm}
		if master, ok := st.Master(); ok && master == sm {
			r.Proof = proof
		}
		rows = append(rows, r)
	}
	if err := c.out.Answer(&List{Rows: eachRow(rows), Details: smDetails, Empty: "no subnet manager was seen"}); err != nil || proof == nil {
		return err
	}
	if proof.Manager != session.ManagerUntold {
		c.out.note("the subnet manager in charge is of the kind %s, as was said", proof.Manager)
	}
	c.out.note("%s", proof)
	return nil
}

func (c *call) showUnanswered() error {
	st := c.session.State()
	a := unanswered{Unanswered: st.Unanswered}
	for _, u := range st.UnansweredAt() {
		r := unansweredRow{leads: leads{Lead{GUID: u.GUID, Port: uint8(max(u.Port, 0))}}, node: u.Node, port: "-", what: u.Attr.String(), open: u.Count, why: u.String()}
		if u.Port >= 0 {
			r.port = strconv.Itoa(u.Port)
		}
		a.rows = append(a.rows, r)
	}
	return c.out.Answer(a)
}

type unanswered struct {
	Unanswered []string `json:"unanswered"`
	rows       []unansweredRow
}

// unansweredRow is what one node or port owes.
type unansweredRow struct {
	leads
	node, port, what string
	open             int
	why              string
}

// Tables has what each node or port owes.
func (a unanswered) Tables() []Table {
	return []Table{tableOf("unanswered", []string{"NODE", "PORT", "WHAT", "OPEN", "WHY"}, a.rows, func(r unansweredRow) plainRow {
		return plainRow{r.leads, []any{r.node, r.port, r.what, r.open, r.why}}
	})}
}

func (a unanswered) Text(w io.Writer) {
	if len(a.Unanswered) == 0 {
		_, _ = fmt.Fprintln(w, "everything answered the last sweep")
	}
	for _, u := range a.Unanswered {
		_, _ = fmt.Fprintln(w, u)
	}
}
