// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

const mostPorts = 20 // listed links with the most paths

// worst returns the ports with the most paths. Ports whose number of paths is unknown are ignored.
func (r *Report) worst() []Port {
	all := r.known()
	slices.SortStableFunc(all, func(a, b Port) int { return cmp.Compare(*b.Paths, *a.Paths) })
	return all[:min(len(all), mostPorts)]
}

// The method known returns the ports whose number of paths is known.
func (r *Report) known() []Port {
	return slices.DeleteFunc(slices.Clone(r.Ports), func(p Port) bool { return p.Paths == nil })
}

// printer writes until the first error, and keeps this error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// Text writes the report as plain text. Names are escaped.
func (r *Report) Text(w io.Writer) error {
	p := &printer{w: w}
	for _, f := range r.figures() {
		p.f("%-20s %s\n", f[0], f[1])
	}
	if t := r.Routing; t != nil {
		for links, n := range t.Links {
			if n > 0 {
				p.f("%-20s %d\n", fmt.Sprintf("Paths of %d links", links), n)
			}
		}
	}
	for _, x := range r.worst() {
		p.f("%-20s %s/%d -> %s/%d  %s%s  %d paths to %d LIDs\n", "Link", x.From, x.Out, x.To, x.In, x.Width, x.Speed,
			*x.Paths, *x.LIDs)
	}
	return p.err
}

// Markdown writes the report as Markdown.
func (r *Report) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.f("# Routing of an InfiniBand subnet\n\n| | |\n|---|---|\n")
	for _, f := range r.figures() {
		p.f("| %s | %s |\n", f[0], markdown(f[1]))
	}
	if t := r.Routing; t != nil {
		p.f("\n## Paths by links\n\n| links | paths |\n|---:|---:|\n")
		for links, n := range t.Links {
			if n > 0 {
				p.f("| %d | %d |\n", links, n)
			}
		}
	}
	p.f("\n## Links with the most paths\n\n| from | to | link | paths | LIDs |\n|---|---|---|---:|---:|\n")
	for _, x := range r.worst() {
		p.f("| %s/%d | %s/%d | %s%s | %d | %d |\n", markdown(x.From), x.Out, markdown(x.To), x.In, x.Width, x.Speed,
			*x.Paths, *x.LIDs)
	}
	return p.err
}

// markdown escapes text for a cell of a table. It escapes punctuation by a backslash, and < > & | by character
// references.
func markdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case strings.ContainsRune("<>&|", c):
			fmt.Fprintf(&b, "&#%d;", c)
		case strings.ContainsRune("\\`*_{}[]()#+-.!~:@/", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
