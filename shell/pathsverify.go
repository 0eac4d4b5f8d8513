// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

func (c *call) pathsVerify() error {
	live := c.Arg(0) == liveWord
	pairs := c.Int("sample", 100_000)
	if live {
		pairs = c.Int("sample", 500)
	}
	if pairs < 1 {
		return fmt.Errorf("sample=%d: expected 1 or more", pairs)
	}
	v, done, err := c.pathsView()
	if err != nil {
		return err
	}
	defer done()
	drawn, err := c.drawnPairs(pairs, live)
	if err != nil {
		return err
	}
	a := verifiedPaths{Pairs: len(drawn), Beside: "the subnet administration", Differences: []string{}}
	note := func(p session.Pair, f *fabric.Fabric, why error) {
		if a.Differ++; a.Differ <= maxListed {
			a.Differences = append(a.Differences, fmt.Sprintf("%s to %s: %v", f.PortName(p.Src), destinationName(f, p.LID), why))
		}
	}
	if live && v.unknownSLs {
		c.out.warn("%v: they are not compared", session.ErrUnreadSLs)
	}
	if live {
		f := c.session.State().Live.Fabric
		err = c.session.PathRecords(c.ctx, drawn, func(p session.Pair, r sa.PathRecord, err error) error {
			if why := session.BesidePath(v.View, f.Ports[p.Src].LID, p.LID, &r, err, !v.unknownSLs); why != nil {
				note(p, f, why)
			}
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		st := c.session.State()
		p, err := st.FreshTablesOf(session.Kind(c.Option("of", "")))
		if err != nil {
			return err
		}
		a.Beside = st.Title(p)
		for i, pair := range drawn {
			if i%1024 == 0 && c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			switch err := paths.Compare(v.View, p.Tables, pair.Src, pair.LID); {
			case errors.Is(err, paths.ErrUnread):
				a.Unknown++
			case err != nil:
				note(pair, p.Fabric, err)
			}
		}
	}
	a.Verdict = verdict.Of(a.Differ > 0, a.Unknown > 0)
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	return c.judge(a.Verdict, fmt.Sprintf("%d of %s differ from %s", a.Differ, count(a.Pairs, "path"), a.Beside), feature.UnknownPaths(int64(a.Unknown), int64(a.Pairs)))
}

type verifiedPaths struct {
	Pairs       int      `json:"pairs"`
	Beside      string   `json:"beside"`
	Differ      int      `json:"differ"`
	Differences []string `json:"differences"`
	// Unknown counts the pairs that could not be compared: their paths meet a table that was not read.
	Unknown int             `json:"unknown"`
	Verdict verdict.Verdict `json:"verdict"`
}

func (a *verifiedPaths) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s compared with %s: %d differ%s\n", count(a.Pairs, "path"), a.Beside, a.Differ,
		prose.When(a.Unknown > 0, fmt.Sprintf(", %d unknown: over tables that were not read", a.Unknown), ""))
	for _, d := range a.Differences {
		_, _ = fmt.Fprintf(w, "  %s\n", d)
	}
	if more := a.Differ - len(a.Differences); more > 0 {
		_, _ = fmt.Fprintf(w, "  and %d more\n", more)
	}
}

// drawnPairs draws pairs of end ports; those of channel adapters alone where a
// subnet administration is asked, for the rates of switches' own ports are not swept.
func (c *call) drawnPairs(n int, live bool) ([]session.Pair, error) {
	st := c.session.State()
	f := st.Live.Fabric
	if !live {
		p, err := st.Subject(session.Kind(c.Option("of", "")))
		if err != nil {
			return nil, err
		}
		f = p.Fabric
	}
	var ends []fabric.PortIndex
	for _, e := range f.EndPorts {
		if f.Ports[e].LID != 0 && (!live || f.Ports[e].Num != 0) {
			ends = append(ends, e)
		}
	}
	if len(ends) == 0 {
		return nil, errors.New("no end port has a LID")
	}
	r := rand.New(rand.NewPCG(uint64(c.Int("seed", 1)), 0))
	pairs := make([]session.Pair, n)
	for i := range pairs {
		dst := ends[r.IntN(len(ends))]
		pairs[i] = session.Pair{Src: ends[r.IntN(len(ends))], Dst: dst, LID: f.Ports[dst].LID + uint16(r.IntN(1<<f.Ports[dst].LMC))}
	}
	return pairs, nil
}
