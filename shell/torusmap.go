// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/engines/torus"
)

// torusRow is a switch of a torus. Directions are "+x" and the like.
type torusRow struct {
	Switch string            `json:"switch"`
	At     torus.Coordinates `json:"at"`
	// Lost are the directions in which it has no link and should, Datelines those in which a dateline is crossed.
	Lost      []string `json:"lost,omitempty"`
	Datelines []string `json:"datelines,omitempty"`
	// Path is the hop of the path that was asked for, and Tree are the directions of the tree.
	Path *traceHop `json:"path,omitempty"`
	Tree []string  `json:"tree,omitempty"`

	sw    fabric.SwitchIndex
	there []string
}

func (r *torusRow) Cells() []any { return []any{r.Switch, r.At} }

// torusMap draws the switches at their coordinates with the links between them, a plane for each z, y upwards.
type torusMap struct {
	*torus.Torus
	of       string
	rows     []*torusRow
	bySwitch map[fabric.SwitchIndex]*torusRow
	width    int
	path     *traceAnswer
}

func newTorusMap(t *torus.Torus, f *fabric.Fabric, of string) *torusMap {
	m := &torusMap{Torus: t, of: of, bySwitch: map[fabric.SwitchIndex]*torusRow{}, width: 1}
	for i := range f.Switches {
		sw := fabric.SwitchIndex(i)
		at, ok := t.Coordinates(sw)
		if !ok {
			continue
		}
		links := t.LinksOf(sw)
		row := &torusRow{Switch: t.SwitchName(sw), At: at, Lost: links.Lost, Datelines: links.Datelines, sw: sw, there: links.There}
		m.rows, m.bySwitch[sw] = append(m.rows, row), row
		m.width = max(m.width, len([]rune(row.Switch)))
	}
	return m
}

const (
	margin = 7 // for "  y=4"
	joint  = 3 // characters between a name and the next one
)

func (m *torusMap) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%v, of %s\n", m.Torus, m.of)
	m.legend(w)
	for z := range m.Radix[2] {
		if m.Radix[2] > 1 {
			_, _ = fmt.Fprintf(w, "z = %d\n", z)
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
		_, _ = fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	m.alongZ(w, "lost links", func(r *torusRow) []string { return r.Lost })
	m.alongZ(w, "the tree", func(r *torusRow) []string { return r.Tree })
	if m.path != nil {
		m.path.Text(w)
	}
}

// legend says where the datelines are, and what is drawn.
func (m *torusMap) legend(w io.Writer) {
	var lines []string
	for d, n := range m.Radix {
		if n > 1 && !m.Mesh[d] {
			lines = append(lines, fmt.Sprintf("%c between %d and 0", "xyz"[d], n-1))
		}
	}
	if lines != nil {
		_, _ = fmt.Fprintf(w, "datelines (:) along %s\n", strings.Join(lines, ", "))
	}
	var said []string
	for _, s := range []struct {
		text string
		any  func(r *torusRow) bool
	}{
		{"/ a lost link", func(r *torusRow) bool { return r.Lost != nil }},
		{"# the tree", func(r *torusRow) bool { return r.Tree != nil }},
		{"> < ^ v the path", func(r *torusRow) bool { return r.Path != nil }},
	} {
		if slices.ContainsFunc(m.rows, s.any) {
			said = append(said, s.text)
		}
	}
	if said != nil {
		_, _ = fmt.Fprintln(w, strings.Join(said, ", "))
	}
}

// line draws a row of switches with the links along x.
func (m *torusMap) line(w io.Writer, y, z int) {
	edge := m.across(torus.Coordinates{m.Radix[0] - 1, y, z})
	var line strings.Builder
	fmt.Fprintf(&line, "  y=%-*d%s", margin-4, y, m.dash(edge, joint, edge != ' ', false))
	for x := range m.Radix[0] {
		name, at := "-", torus.Coordinates{x, y, z}
		if row := m.at(at); row != nil {
			name = row.Switch
		}
		last := x == m.Radix[0]-1
		line.WriteString(name + m.dash(m.across(at), m.width-len([]rune(name))+joint, false, last))
	}
	_, _ = fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
}

func (m *torusMap) across(at torus.Coordinates) rune { return m.mark(at, 0, '-', '>', '<') }

// dash draws a link along x; the dateline is at the outer end of one that goes round.
func (m *torusMap) dash(mark rune, n int, first, last bool) string {
	line := []rune(strings.Repeat(string(mark), n))
	if mark == '/' {
		line = []rune(strings.Repeat(" ", n))
		line[n/2] = mark
	}
	switch round := mark != ' ' && m.Radix[0] > 1 && !m.Mesh[0]; {
	case round && first:
		line[0] = ':'
	case round && last:
		line[n-1] = ':'
	}
	return string(line)
}

// uprights draws the links up y from a row.
func (m *torusMap) uprights(w io.Writer, y, z int) {
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
		_, _ = fmt.Fprintln(w, line)
	}
}

// mark is how the link up a dimension from a place is drawn.
func (m *torusMap) mark(at torus.Coordinates, d int, plain, forth, back rune) rune {
	next := at
	next[d] = (at[d] + 1) % m.Radix[d]
	lower, upper := m.at(at), m.at(next)
	up, down := "+"+"xyz"[d:d+1], "-"+"xyz"[d:d+1]
	is := func(r *torusRow, of func(*torusRow) []string, along string) bool {
		return r != nil && slices.Contains(of(r), along)
	}
	either := func(of func(*torusRow) []string) bool { return is(lower, of, up) || is(upper, of, down) }
	path := func(r *torusRow) []string {
		if r.Path == nil || r.Path.Torus == nil {
			return nil
		}
		return []string{r.Path.Torus.Along}
	}
	switch {
	case is(lower, path, up):
		return forth
	case is(upper, path, down):
		return back
	case either(func(r *torusRow) []string { return r.Tree }):
		return '#'
	case either(func(r *torusRow) []string { return r.there }):
		return plain
	case either(func(r *torusRow) []string { return r.Lost }):
		return '/'
	}
	return ' '
}

// alongZ lists what the planes cannot show.
func (m *torusMap) alongZ(w io.Writer, what string, of func(*torusRow) []string) {
	var names []string
	for _, r := range m.rows {
		below := m.at(torus.Coordinates{r.At[0], r.At[1], (r.At[2] + m.Radix[2] - 1) % m.Radix[2]})
		said := below != nil && slices.Contains(of(below), "+z")
		for _, along := range of(r) {
			if along == "+z" || along == "-z" && !said {
				names = append(names, r.Switch+" "+along)
			}
		}
	}
	if names == nil {
		return
	}
	shown, more := prose.Cut(names, maxTroubles)
	_, _ = fmt.Fprintf(w, "%s along z: %s\n", what, strings.TrimSpace(strings.Join(shown, ", ")+" "+more))
}

func (m *torusMap) at(c torus.Coordinates) *torusRow { return m.bySwitch[m.SwitchAt(c)] }
