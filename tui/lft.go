// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/walk"
	"example.org/ibconsole/shell/session"
)

// lft is the forwarding table of the switch that the topology pane has selected.
type lft struct {
	window
	sc    *scene
	theme *theme
	// at is the switch that is shown, sw its index in the picture, None where the
	// picture has no such switch.
	at place
	sw int32
	// lids are the rows: LIDs with an entry, or with an owner in the subnet.
	lids []uint16
	// was is the row of the same switch in what is compared with, nil without.
	was     func(lid uint16) uint8
	changes int

	text        string
	changedOnly bool
	names       *index // of the picture, for the filter
}

func newLFT(t *theme) *lft { return &lft{theme: t, sw: fabric.None} }

func (l *lft) win() *window   { return &l.window }
func (l *lft) filter() string { return l.text }

func (l *lft) setFilter(text string) {
	l.text = strings.ToLower(text)
	l.rebuild()
}

// show takes a new scene or another switch, and stays on the LID.
func (l *lft) show(sc *scene, at place) {
	lid, ok := l.lid()
	moved := at != l.at
	l.sc, l.at = sc, at
	l.sw = fabric.None
	if node, _ := at.in(sc.pic.Fabric); node != fabric.None {
		l.sw = sc.pic.Fabric.Nodes[node].Switch
	}
	l.build()
	if ok && (!moved || l.text == "") {
		l.find(lid)
	}
}

func (l *lft) rebuild() { l.show(l.sc, l.at) }

// lid is the LID of the selected row.
func (l *lft) lid() (uint16, bool) {
	if l.cursor >= len(l.lids) {
		return 0, false
	}
	return l.lids[l.cursor], true
}

// find selects a LID, or the next above it.
func (l *lft) find(lid uint16) {
	i := 0
	for i < len(l.lids)-1 && l.lids[i] < lid {
		i++
	}
	l.reveal(i)
}

func (l *lft) tables() *fabric.Tables {
	if l.sc == nil || l.sw == fabric.None {
		return nil
	}
	return l.sc.pic.Tables
}

func (l *lft) build() {
	l.lids, l.was, l.changes = l.lids[:0], nil, 0
	t := l.tables()
	if t == nil || !t.Known[l.sw] || !t.Fabric.SwitchNode(l.sw).InSubnet {
		l.resize(0, l.height)
		return
	}
	l.compare()
	want := l.wanted()
	f := t.Fabric
	for lid := 1; lid <= max(int(t.Top[l.sw]), int(f.MaxLID)); lid++ {
		id := uint16(lid)
		entry := t.Port(l.sw, id)
		changed := l.was != nil && l.was(id) != entry
		if changed {
			l.changes++
		}
		if (entry != fabric.NoPath || changed || f.PortByLID(id) != fabric.None) && (changed || !l.changedOnly) && want(id) {
			l.lids = append(l.lids, id)
		}
	}
	l.resize(len(l.lids), l.height)
}

// compare finds the row of the switch in what is compared with.
func (l *lft) compare() {
	if l.sc.base == nil {
		return
	}
	old := l.sc.base.Tables
	sw := old.Fabric.SwitchByGUID(l.at.guid)
	if sw != fabric.None && old.Known[sw] {
		l.was = func(lid uint16) uint8 { return old.Port(sw, lid) }
	}
}

// wanted is what the filter lets through: destinations by name, or a LID.
func (l *lft) wanted() func(uint16) bool {
	if l.text == "" {
		return func(uint16) bool { return true }
	}
	f := l.sc.pic.Fabric
	if l.names == nil || l.names.f != f {
		l.names = &index{f: f}
	}
	number, err := strconv.Atoi(l.text)
	if err != nil {
		number = -1
	}
	return func(lid uint16) bool {
		e := f.PortByLID(lid)
		return int(lid) == number || e != fabric.None && l.names.matches(f.Ports[e].Node, l.text)
	}
}

func (l *lft) title() string {
	if l.sw == fabric.None {
		return ""
	}
	f := l.sc.pic.Fabric
	return fmt.Sprintf("of %s  LID %s", f.NodeName(f.Switches[l.sw]), lidText(f.SwitchLID(l.sw)))
}

func (l *lft) picture() *badge {
	if l.tables() == nil {
		return nil
	}
	return l.theme.pictureBadge(&l.sc.st, l.sc.pic)
}

func (l *lft) figure() string {
	switch {
	case l.tables() == nil:
		return ""
	case l.changedOnly && l.was != nil:
		return fmt.Sprintf("%s changed against %s", thousands(l.changes), l.sc.base.Kind)
	case l.was != nil:
		return fmt.Sprintf("%s, %s changed against %s", count(len(l.lids), "LID"), thousands(l.changes), l.sc.base.Kind)
	}
	return count(len(l.lids), "LID")
}

func (l *lft) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case l.sc.why != "":
		return l.sc.why
	case l.at.guid == 0:
		return "select a switch in the topology: press 1"
	case l.sw == fabric.None:
		return fmt.Sprintf("%s has no such switch", l.sc.pic.Kind)
	case !l.sc.pic.Fabric.SwitchNode(l.sw).InSubnet:
		return fmt.Sprintf("this switch does not belong to the subnet in %s: v shows another picture", l.sc.pic.Kind)
	case !l.sc.pic.Tables.Known[l.sw]:
		return "the table of this switch was not read: press s to sweep"
	case l.changedOnly && l.was == nil:
		return "nothing to compare with: c shows all entries"
	case l.changedOnly && l.text == "":
		return fmt.Sprintf("no entry differs from %s: c shows all", l.sc.base.Kind)
	case l.text != "":
		return fmt.Sprintf("no destination is called *%s* here: Esc shows all", l.text)
	}
	return "the table is empty: press r to route"
}

// whyNotChanged says why the rows cannot be limited to changed ones, "" if they can.
func (l *lft) whyNotChanged() string {
	if l.changedOnly || l.was != nil {
		return ""
	}
	if l.sc.pic.Kind == session.Live || l.sc.pic.Kind == session.Base {
		return fmt.Sprintf("this is %s, which nothing is compared with: press r to route", l.sc.pic.Kind)
	}
	return "there are no tables to compare with"
}

// egress is the port that the selected row leads to, None where it leads nowhere.
func (l *lft) egress(lid uint16) int32 {
	t := l.sc.pic.Tables
	return t.Fabric.PortAt(t.Fabric.Switches[l.sw], int(t.Port(l.sw, lid)))
}

func (l *lft) subject() subject {
	lid, ok := l.lid()
	if !ok {
		return nothing
	}
	f := l.sc.pic.Fabric
	s := subject{f: f, node: fabric.None, port: f.PortByLID(lid), link: l.egress(lid), via: fabric.None}
	if s.port != fabric.None {
		s.node = f.Ports[s.port].Node
	}
	if s.link != fabric.None && f.Ports[s.link].Num == 0 {
		s.link = fabric.None
	}
	return s
}

// next is the node that packets for the selected LID go to, None where they
// stay or end.
func (l *lft) next() int32 {
	lid, ok := l.lid()
	if !ok {
		return fabric.None
	}
	out := l.egress(lid)
	if out == fabric.None || l.sc.pic.Fabric.Ports[out].Num == 0 {
		return fabric.None
	}
	return l.sc.pic.Fabric.PeerNode(out)
}

// lftColumns are the widths of the columns of a table w cells wide.
type lftColumns struct{ dest, next, was int }

func (l *lft) columns(w int) lftColumns {
	var c lftColumns
	rest := w - 7 - 6 - 6
	if l.was != nil {
		c.was = 8
		rest -= c.was
	}
	if w >= 56 {
		rest -= 8
	}
	c.dest = rest / 2
	c.next = rest - c.dest
	return c
}

func (l *lft) header(p *pen) {
	c := l.columns(p.left)
	wide := p.left >= 56
	p.right(p.dim, "LID", 6)
	p.gap(2)
	p.cell(p.dim, "destination", c.dest-1)
	p.right(p.dim, "port", 5)
	p.gap(2)
	p.cell(p.dim, "next hop", c.next-1)
	p.right(p.dim, "hops", 5)
	if wide {
		p.right(p.dim, "link", 8)
	}
	if c.was > 0 {
		p.right(p.dim, "was", 7)
	}
}

func (l *lft) draw(p *pen, row int) {
	c := l.columns(p.left)
	wide := p.left >= 56
	t := l.sc.pic.Tables
	f := t.Fabric
	lid := l.lids[row]
	entry := t.Port(l.sw, lid)
	p.right(p.dim, fmt.Sprint(lid), 6)
	p.gap(2)
	dest, st := "no port owns it", p.dim
	if e := f.PortByLID(lid); e != fabric.None {
		dest, st = f.NodeName(f.Ports[e].Node), ""
	}
	p.cell(st, dest, c.dest-1)
	p.right("", entryText(entry), 5)
	p.gap(2)
	l.drawNext(p, lid, entry, c.next-1)
	hops, st := l.hops(p, lid)
	p.right(st, hops, 5)
	if wide {
		speed := ""
		if out := f.PortAt(f.Switches[l.sw], int(entry)); out != fabric.None && entry != 0 && f.Ports[out].Linked() {
			speed = f.Ports[out].Width.String() + f.Ports[out].Speed.String()
		}
		p.right(p.dim, speed, 8)
	}
	if l.was != nil && l.was(lid) != entry {
		p.right(p.warn, p.changed+" "+entryText(l.was(lid)), 7)
	}
}

func entryText(entry uint8) string {
	if entry == fabric.NoPath {
		return "-"
	}
	return fmt.Sprint(entry)
}

func (l *lft) drawNext(p *pen, lid uint16, entry uint8, w int) {
	f := l.sc.pic.Fabric
	out := l.egress(lid)
	switch {
	case entry == fabric.NoPath:
		p.cell(p.bad, "no entry", w)
	case out == fabric.None:
		p.cell(p.bad, "no such port", w)
	case entry == 0:
		p.cell(p.dim, "this switch", w)
	case !f.Ports[out].Linked():
		p.cell(p.bad, p.failed+" link is down", w)
	default:
		p.cell("", f.NodeName(f.PeerNode(out)), w)
	}
}

// hops is how many links the table's own path takes from here, or how it ends
// where it does not arrive.
func (l *lft) hops(p *pen, lid uint16) (string, style) {
	end := walk.Follow(l.sc.pic.Tables, l.sw, lid, nil)
	switch end.Verdict {
	case walk.Delivered, walk.TooLong:
		return fmt.Sprint(end.Links), ""
	case walk.Loop:
		return "loop", p.bad
	case walk.Misdelivered:
		return "wrong", p.bad
	case walk.Unknown:
		return "?", p.warn
	}
	return "lost", p.bad
}
