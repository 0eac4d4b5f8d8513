// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// seed makes the random choice of paths the same in each run on a subnet, so that two reports can be compared.
const seed = 1

// traces compares paths through the tables that were read with the paths that ibtracert reports.
func traces(ctx context.Context, opt *Options, c *Check) error {
	c.Program = "ibtracert"
	program, err := find(c.Program)
	if err != nil {
		return err
	}
	t := opt.Tables
	f := t.Fabric
	hops, arrived := 0, 0
	for i, p := range opt.pairs {
		opt.Progress(2+i, len(opt.pairs)+2)
		path := walk.Trace(t, p.src, p.lid)
		want, err := expected(t, &path)
		if err != nil {
			return err
		}
		text, err := opt.Tools.run(ctx, traceBounds, program, "--node-name-map", "/dev/null",
			fmt.Sprint(f.Ports[p.src].LID), fmt.Sprint(p.lid))
		if ctx.Err() != nil {
			return err
		}
		if path.Verdict.Arrives() {
			arrived++
		}
		hops += path.Links()
		if got := lines(text); !same(got, want) {
			c.differs("%s to LID %d: %s", f.PortName(p.src), p.lid, parting(got, want, err))
		}
		c.Compared = []Amount{{i + 1, "path"}, {hops, "hop"}}
	}
	if n := len(c.Compared); n > 0 && arrived < c.Compared[0].Count {
		c.note("%d of the paths do not arrive, according to both", c.Compared[0].Count-arrived)
	}
	return nil
}

type pair struct {
	src fabric.PortIndex
	lid uint16
}

// drawn returns n random pairs of end ports with LIDs. If there are at most n pairs, it returns all of them.
func drawn(f *fabric.Fabric, n int) []pair {
	var ends []fabric.PortIndex
	for _, e := range f.EndPorts {
		if p := &f.Ports[e]; p.LID != 0 && f.Nodes[p.Node].InSubnet {
			ends = append(ends, e)
		}
	}
	all := len(ends) * (len(ends) - 1)
	at := func(i int) pair {
		src, dst := i/(len(ends)-1), i%(len(ends)-1)
		if dst >= src {
			dst++
		}
		return pair{ends[src], f.Ports[ends[dst]].LID}
	}
	var out []pair
	if all <= n {
		for i := range all {
			out = append(out, at(i))
		}
		return out
	}
	r := rand.New(rand.NewPCG(seed, 0))
	taken := map[int]bool{}
	for len(out) < n {
		if i := r.IntN(all); !taken[i] {
			taken[i] = true
			out = append(out, at(i))
		}
	}
	return out
}

// expected returns the lines that ibtracert should print for a path.
func expected(t *fabric.Tables, p *walk.Path) ([]string, error) {
	var b bytes.Buffer
	err := walk.Ibtracert(&b, t, p)
	return lines(b.Bytes()), err
}

// lines returns the lines of ibtracert's output without node descriptions, which are already compared with
// ibnetdiscover.
func lines(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, failure) {
			continue
		}
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), ` "`)
		out = append(out, line)
	}
	return out
}

func same(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// parting returns a text with the first line in which the output of ibtracert differs from the expected lines. It
// includes the reason if ibtracert failed.
func parting(got, want []string, err error) string {
	for i := range max(len(got), len(want)) {
		g, w := lineAt(got, i), lineAt(want, i)
		if g == w {
			continue
		}
		text := fmt.Sprintf("line %d of ibtracert is %s, by the sweep it is %s", i+1, fabric.Escape(g),
			fabric.Escape(w))
		if err != nil {
			text += fmt.Sprintf(" (%s)", fabric.Escape(err.Error()))
		}
		return text
	}
	return ""
}

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return "missing"
	}
	return fmt.Sprintf("%q", lines[i])
}
