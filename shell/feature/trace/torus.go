// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

var errNoTorus = errors.New("the tables are not those of torus-2QoS; hint: run 'engine torus-2QoS; route'")

// masterTree is the name of the multicast tree that spans all switches. The trees of groups are parts of this tree.
const masterTree = "master"

func torusOptions() []lang.Option {
	return append([]lang.Option{
		{
			Name: "path", Kind: lang.KindPlace, Value: "A,B", List: true,
			Summary: "mark the path from A to B and list its hops",
		},
		{
			Name: "tree", Kind: lang.KindText, Words: []string{masterTree}, Value: "MLID",
			Summary: "mark the tree of a multicast group, or of all switches (master)",
		},
	}, feature.PathOptions()...)
}

// torusMap is a map of the switches of a torus at their coordinates.
type torusMap struct {
	Name string       `key:"torus" help:"the dimensions of the torus"`
	Root answer.Value `key:"root" kind:"place" help:"the root of the requested multicast tree"`
	Path *path        `prefix:"path_"` // nil unless requested

	*torus.Torus
	of       string
	root     *torusSwitch // nil unless a tree was requested
	rows     []*torusSwitch
	bySwitch map[fabric.SwitchIndex]*torusSwitch
	width    int
}

// torusSwitch is a row: a switch of a torus. Its directions are texts such as "+x".
type torusSwitch struct {
	Switch    answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	At        answer.Value `key:"at" name:"AT" kind:"list" help:"coordinates"`
	Lost      answer.Value `key:"lost" kind:"texts" name:"LOST" help:"directions of lost links"`
	Datelines answer.Value `key:"datelines" kind:"texts" name:"DATELINES" help:"directions that cross a dateline"`
	Hop       answer.Value `key:"hop" name:"HOP" kind:"int" help:"number of the hop on the path, from 0 for the source"`
	Tree      answer.Value `key:"tree" kind:"texts" name:"TREE" help:"directions of links of the tree"`

	name  string
	at    torus.Coordinates
	sw    fabric.SwitchIndex
	there []string
	lost  []string
	along []string
	hop   *hop
	lead  answer.Lead
}

var torusTable = answer.Table[*torusSwitch]{
	Key: "switches", Title: "switches", Stream: true, Fields: answer.Fields[*torusSwitch](),
	Lead: func(s *torusSwitch) answer.Lead {
		return s.lead
	},
}

var torusDecl = answer.Decl[*torusMap]{
	Command: "show torus", Help: "the switches of a torus at their coordinates", Title: "{torus}, of {of}",
	Facts: answer.Fields[*torusMap](),
	Layout: []answer.Item[*torusMap]{
		{Table: answer.Show(&torusTable, func(m *torusMap) answer.Rows[*torusSwitch] { return answer.Slice(m.rows) })},
		{Table: answer.Show(&hopTable, func(m *torusMap) answer.Rows[hop] {
			if m.Path == nil {
				return answer.Slice[hop](nil)
			}
			return answer.Slice(m.Path.hops)
		})},
	},
	Draw: func(c *answer.Canvas, _ answer.Basis, m *torusMap) { m.draw(c) },
}

func runTorus(c *feature.Call) error {
	st, s, err := c.Tables()
	if err != nil {
		return err
	}
	t, ok := torus.Of(s.Tables)
	if !ok {
		return errNoTorus
	}
	m := newTorusMap(t, s.Fabric, st.Title(s))
	if tree := c.Option("tree", ""); tree != "" {
		along, root, err := treeAlong(t, s.Tables, tree)
		if err != nil {
			return err
		}
		for _, row := range m.rows {
			row.along = along(row.sw)
			row.Tree = texts(row.along)
		}
		if m.root = m.bySwitch[root]; m.root != nil {
			m.Root = m.root.Switch
		}
	}
	if ends := c.Option("path", ""); ends != "" {
		if err := m.trace(c, st, s, ends); err != nil {
			return err
		}
	}
	return c.Answer(torusDecl.Answer(st.Basis(s, session.NeedLinks), m))
}

// treeAlong returns a function and the root of the multicast tree, or [fabric.None] for a LID without a tree. For each
// switch, the function returns the directions in which the tree leaves the switch. The argument name is a multicast LID
// or [masterTree].
func treeAlong(t *torus.Torus, tables *fabric.Tables, name string) (along func(fabric.SwitchIndex) []string,
	root fabric.SwitchIndex, err error) {
	root = t.MasterTree().Root
	if name == masterTree {
		return t.MasterTree().Along, root, nil
	}
	mlid, err := feature.ParseMLID(name)
	if err != nil {
		return nil, root, err
	}
	if tables.MFT == nil || mlid > tables.MFT.Top {
		return nil, root, fmt.Errorf("multicast LID %s has no tree; hint: 'show torus tree=%s' shows the tree of all "+
			"switches",
			feature.MLIDText(mlid), masterTree)
	}
	if !tables.MFT.Any(root, mlid) {
		root = fabric.None
	}
	return func(sw fabric.SwitchIndex) []string { return t.GroupLinks(tables.MFT, sw, mlid) }, root, nil
}

// trace marks on the map the path between two places. The argument ends names them as "A,B".
func (m *torusMap) trace(c *feature.Call, st *session.State, s *session.Picture, ends string) error {
	pair, err := feature.PairWithComma(s.Fabric, ends)
	if err != nil {
		return err
	}
	asked, err := c.Asked()
	if err != nil {
		return err
	}
	g, err := st.Grants(s, asked)
	if err != nil {
		return err
	}
	of, p := tracePair(c, st, s, g, pair)
	m.Path = p
	for i, h := range of.Hops {
		if row := m.bySwitch[s.Fabric.Nodes[h.Node].Switch]; row != nil && row.hop == nil {
			row.hop, row.Hop = &p.hops[i], answer.Int(i)
		}
	}
	return nil
}

// texts returns a list of texts, or None for an empty list.
func texts(s []string) answer.Value {
	if len(s) == 0 {
		return answer.None()
	}
	return answer.Texts(s)
}

func newTorusMap(t *torus.Torus, f *fabric.Fabric, of string) *torusMap {
	m := &torusMap{Name: fmt.Sprint(t), Torus: t, of: of, bySwitch: map[fabric.SwitchIndex]*torusSwitch{}, width: 1}
	for i := range f.Switches {
		sw := fabric.SwitchIndex(i)
		at, ok := t.Coordinates(sw)
		if !ok {
			continue
		}
		links := t.LinksOf(sw)
		row := &torusSwitch{
			Switch: answer.Node(f, f.Switches[sw]), At: answer.Ints(at[:]), Lost: texts(links.Missing),
			Datelines: texts(links.Datelines), lost: links.Missing,
			name: t.SwitchName(sw), at: at, sw: sw, there: links.Present, lead: feature.ToNode(f, f.Switches[sw]),
		}
		m.rows, m.bySwitch[sw] = append(m.rows, row), row
		m.width = max(m.width, len([]rune(row.name)))
	}
	return m
}

const (
	margin = 7 // width of "  y=4"
	joint  = 3 // characters between a name and the next one
)

// draw draws the switches, one plane for each z, with y upwards.
func (m *torusMap) draw(w *answer.Canvas) {
	m.legend(w)
	for z := range m.Radix[2] {
		if m.Radix[2] > 1 {
			w.Line("z = %d", z)
		}
		m.uprights(w, m.Radix[1]-1, z)
		for y := m.Radix[1] - 1; y >= 0; y-- {
			m.line(w, y, z)
			if y > 0 {
				m.uprights(w, y-1, z)
			}
		}
		m.uprights(w, m.Radix[1]-1, z)
		var line strings.Builder
		fmt.Fprintf(&line, "%*s", margin+joint, "")
		for x := range m.Radix[0] {
			fmt.Fprintf(&line, "%-*s", m.width+joint, fmt.Sprintf("x=%d", x))
		}
		w.Line("%s", strings.TrimRight(line.String(), " "))
	}
	m.alongZ(w, "lost links", func(r *torusSwitch) []string { return r.lost })
	m.alongZ(w, "the tree", func(r *torusSwitch) []string { return r.along })
	if p := m.Path; p != nil {
		w.Line("%s -> %s, LID %s%s, of %s", p.From, p.ToName, lidText(p.LID),
			prose.When(p.Level == "", "", ", "+p.Level),
			fabric.Escape(m.of))
		p.draw(w)
	}
}

// legend writes the positions of the datelines, and the meaning of the signs of the map.
func (m *torusMap) legend(w *answer.Canvas) {
	var lines []string
	for d, n := range m.Radix {
		if n > 1 && !m.Mesh[d] {
			lines = append(lines, fmt.Sprintf("%c between %d and 0", "xyz"[d], n-1))
		}
	}
	if lines != nil {
		w.Line("datelines (:) along %s", strings.Join(lines, ", "))
	}
	var shown []string
	for _, s := range []struct {
		text string
		any  func(r *torusSwitch) bool
	}{
		{"/ a lost link", func(r *torusSwitch) bool { return r.lost != nil }},
		{"# the tree", func(r *torusSwitch) bool { return r.along != nil }},
		{"> < ^ v the path", func(r *torusSwitch) bool { return r.hop != nil }},
	} {
		if slices.ContainsFunc(m.rows, s.any) {
			shown = append(shown, s.text)
		}
	}
	if m.root != nil {
		shown = append(shown, "* its root "+m.root.name)
	}
	if shown != nil {
		w.Line("%s", strings.Join(shown, ", "))
	}
}

// line draws a row of switches with the links along x.
func (m *torusMap) line(w *answer.Canvas, y, z int) {
	edge := m.across(torus.Coordinates{m.Radix[0] - 1, y, z})
	var line strings.Builder
	fmt.Fprintf(&line, "  y=%-*d%s", margin-4, y, m.dash(edge, joint, edge != ' ', false))
	for x := range m.Radix[0] {
		name, at := "-", torus.Coordinates{x, y, z}
		if row := m.at(at); row != nil {
			name = row.name
			if row == m.root {
				name += "*"
			}
		}
		last := x == m.Radix[0]-1
		line.WriteString(name + m.dash(m.across(at), m.width-len([]rune(name))+joint, false, last))
	}
	w.Line("%s", strings.TrimRight(line.String(), " "))
}

func (m *torusMap) across(at torus.Coordinates) rune { return m.mark(at, 0, '-', '>', '<') }

// dash draws a link along x, n characters long. On a wraparound link, it marks the dateline at the outer end.
func (m *torusMap) dash(mark rune, n int, first, last bool) string {
	line := []rune(strings.Repeat(string(mark), n))
	if mark == '/' {
		line = []rune(strings.Repeat(" ", n))
		line[n/2] = mark
	}
	switch wraps := mark != ' ' && m.Radix[0] > 1 && !m.Mesh[0]; {
	case wraps && first:
		line[0] = ':'
	case wraps && last:
		line[n-1] = ':'
	}
	return string(line)
}

// uprights draws the links along y, above a row of switches.
func (m *torusMap) uprights(w *answer.Canvas, y, z int) {
	plain := '|'
	if y == m.Radix[1]-1 {
		plain = ':'
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%*s", margin+joint, "")
	for x := range m.Radix[0] {
		fmt.Fprintf(&b, "%-*c", m.width+joint, m.mark(torus.Coordinates{x, y, z}, 1, plain, '^', 'v'))
	}
	if line := strings.TrimRight(b.String(), " "); line != "" {
		w.Line("%s", line)
	}
}

// mark returns the sign for the link that leaves the switch at a place in the positive direction of dimension d.
func (m *torusMap) mark(at torus.Coordinates, d int, plain, forth, back rune) rune {
	next := at
	next[d] = (at[d] + 1) % m.Radix[d]
	lower, upper := m.at(at), m.at(next)
	up, down := "+"+"xyz"[d:d+1], "-"+"xyz"[d:d+1]
	is := func(r *torusSwitch, of func(*torusSwitch) []string, along string) bool {
		return r != nil && slices.Contains(of(r), along)
	}
	either := func(of func(*torusSwitch) []string) bool { return is(lower, of, up) || is(upper, of, down) }
	path := func(r *torusSwitch) []string {
		if r.hop == nil || r.hop.Torus == nil {
			return nil
		}
		return []string{r.hop.Torus.of.Along}
	}
	switch {
	case is(lower, path, up):
		return forth
	case is(upper, path, down):
		return back
	case either(func(r *torusSwitch) []string { return r.along }):
		return '#'
	case either(func(r *torusSwitch) []string { return r.there }):
		return plain
	case either(func(r *torusSwitch) []string { return r.lost }):
		return '/'
	}
	return ' '
}

// alongZ lists the links along z. The planes cannot show these links.
func (m *torusMap) alongZ(w *answer.Canvas, what string, of func(*torusSwitch) []string) {
	var names []string
	for _, r := range m.rows {
		below := m.at(torus.Coordinates{r.at[0], r.at[1], (r.at[2] + m.Radix[2] - 1) % m.Radix[2]})
		shown := below != nil && slices.Contains(of(below), "+z")
		for _, along := range of(r) {
			if along == "+z" || along == "-z" && !shown {
				names = append(names, r.name+" "+along)
			}
		}
	}
	if names == nil {
		return
	}
	shown, more := prose.Cut(names, maxListed)
	w.Line("%s along z: %s", what, strings.TrimSpace(strings.Join(shown, ", ")+" "+more))
}

func (m *torusMap) at(c torus.Coordinates) *torusSwitch { return m.bySwitch[m.SwitchAt(c)] }
