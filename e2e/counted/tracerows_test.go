// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// traceRows compares the rows of `trace file=PAIRS`: a row for each LID of each destination, once, in the order of the
// GUIDs of the sources and the LIDs. The digests of paths that arrive are those of their lines in files of traces.
func (x *exam) traceRows(s *state) {
	type row struct {
		src, dst endPort
		p        path
	}
	ends := s.ends(true)
	if len(ends) < 2 {
		return
	}
	var file strings.Builder
	var want []row
	for range 20 {
		pair := some(x.rnd, 2, ends)
		fmt.Fprintln(&file, pair[0].word(), pair[1].word())
		for k := range max(1, len(pair[1].port().lids())) {
			r := row{pair[0], pair[1], s.between(pair[0], pair[1], k)}
			if !slices.ContainsFunc(want, func(o row) bool {
				return o.src == r.src && o.dst == r.dst && o.p.lid == r.p.lid
			}) {
				want = append(want, r)
			}
		}
	}
	slices.SortFunc(want, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.src.port().guid, b.src.port().guid), cmp.Compare(a.p.lid, b.p.lid),
			cmp.Compare(a.dst.port().guid, b.dst.port().guid))
	})
	name := filepath.Join(x.t.TempDir(), "pairs")
	if err := os.WriteFile(name, []byte(file.String()), 0o600); err != nil {
		x.t.Fatal(err)
	}
	a := x.ask(fmt.Sprintf("trace file=%s rows of=%s", name, s.name))
	rows := a.rows("rows")
	if x.compared++; len(rows) != len(want) {
		a.wrong("rows", a.err, len(rows), len(want))
		return
	}
	text := slices.IndexFunc(a.lines, func(line string) bool { return strings.HasPrefix(line, "FROM ") }) + 1
	all, allArrive := sha256.New(), true
	for i, w := range want {
		allArrive = allArrive && w.p.arrives()
		line := w.p.line(w.dst.port())
		all.Write([]byte(line))
		if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(line)))[:16]; w.p.arrives() {
			if got, _ := rows[i].at("digest"); fmt.Sprint(got) != sum {
				a.wrong(fmt.Sprintf("rows.%d.digest", i), "-", got, sum)
			}
			x.compared++
		}
		o, why := rows[i], s.why(w.src, w.dst, w.p)
		for key, value := range map[string]string{
			"from": fmt.Sprint(plugOf(w.src.port())), "to": fmt.Sprint(plugOf(w.dst.port())), "ending": w.p.ends,
			"arrives": fmt.Sprint(w.p.arrives()), "why": why, "lid": fmt.Sprint(w.p.lid),
			"hops": fmt.Sprint(w.p.links()),
		} {
			got, is := o.at(key)
			switch {
			case key == "from" || key == "to":
				got = s.plugAt(o, key)
			case key == "lid" && w.p.lid == 0, key == "hops" && !w.p.arrives():
				value = "<nil>"
			case !is:
				got = nil
			}
			if x.compared++; fmt.Sprint(got) != value {
				a.wrong(fmt.Sprintf("rows.%d.%s", i, key), "-", got, value)
			}
		}
		line = ""
		if text+i < len(a.lines) {
			line = a.lines[text+i]
		}
		if !strings.HasPrefix(line, w.src.port().String()+"  ") || !strings.HasSuffix(line, "  "+why) {
			a.wrong(fmt.Sprintf("rows.%d", i), line, "-", why)
		}
	}
	if got, _ := a.o.at("digest"); allArrive && fmt.Sprint(got) != fmt.Sprintf("%x", all.Sum(nil))[:32] {
		a.wrong("digest", "-", got, fmt.Sprintf("%x", all.Sum(nil))[:32])
	}
	x.compared++
}

// line returns the line of a path that arrives in files of traces.
func (p *path) line(dst *port) string {
	words := []string{fmt.Sprintf("0x%016x", p.src.guid), fmt.Sprint(p.lid), fmt.Sprintf("0x%016x", dst.guid),
		strings.ReplaceAll(p.ends, " ", "-")}
	for i, h := range p.hops {
		word := fmt.Sprintf("0x%016x", h.node.guid)
		if i > 0 {
			word = fmt.Sprintf("%d:%s", h.in.num, word)
		}
		if i < len(p.hops)-1 {
			word = fmt.Sprintf("%s:%d", word, h.out.num)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ") + "\n"
}
