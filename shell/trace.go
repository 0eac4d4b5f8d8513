// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

const (
	liveWord = "live"
	allWord  = "all"
)

func traceCommands() []Spec {
	return []Spec{{
		Name: "trace", Summary: "follow the packets from SRC to DST through the tables; live: through those that the switches hold now",
		Help: "DST may be a multicast LID, mlid:0xC000: the tree that a packet takes is drawn then.\n" +
			"all is every end port of hosts and routers, with the option switches port 0 of switches, too: trace all all, trace SRC all, trace all DST.\n" +
			"Each LID of a destination is a path of its own, but of one that is named by a LID. Paths that arrive are put together by their first and\n" +
			"last switches and the switches that they pass, of all pairs those that do not by the place where they end. trace live all all reads the\n" +
			"subnet first; the live picture stays as it was. It fails where a path does not arrive, and where\n" +
			"that is unknown, as a table was not read, unless strict=no is given.",
		Args: []lang.Arg{
			{Name: "SRC|all", Kind: lang.KindPlace, Words: []string{liveWord, allWord}, Optional: true},
			{Name: "DST|all", Kind: lang.KindPlace, Words: []string{liveWord, allWord}, Optional: true},
			{Name: "live", Kind: lang.KindPlace, Words: []string{liveWord, allWord}, Optional: true},
		},
		Options: append(feature.AskedOptions(), []lang.Option{
			feature.OfOption(),
			{Name: "file", Kind: lang.KindFile, Summary: "trace the pairs of a file, a line each: SRC DST"},
			{Name: "switches", Kind: lang.KindFlag, Summary: "count port 0 of switches among the end ports of all"},
			{Name: "format", Kind: lang.KindWord, Words: []string{"text", "ibtracert"}, Summary: "ibtracert: the lines of ibtracert"},
			{Name: "back", Kind: lang.KindFlag, Summary: "of one pair: the path back, beside this one"},
			{Name: "lids", Kind: lang.KindFlag, Summary: "of one pair: the paths to all LIDs of DST, and what they share with this one"},
			{Name: "against", Kind: lang.KindPicture, Value: strings.Join(feature.StateNames(), "|") + "|ID", Summary: "of one pair: the path that another state has, beside this one"},
			{Name: "limit", Kind: lang.KindInt, Summary: "how many switch pairs, and of all pairs places of each kind, are listed (20)"},
			feature.StrictOption(),
		}...),
		Run: runTrace,
	}}
}

// traceRequest is what a trace command asks for.
type traceRequest struct {
	live  bool
	many  bool
	pairs []session.Pair
	// all is every pair, which pairs does not list.
	all bool
	// limit is how much is listed of what is alike.
	limit int
}

func (c *call) traceRequest(f *fabric.Fabric) (traceRequest, error) {
	var r traceRequest
	words := slices.Clone(c.Args)
	if i := slices.Index(words, liveWord); i >= 0 {
		r.live = true
		words = slices.Delete(words, i, i+1)
	}
	file := c.Option("file", "")
	var err error
	if r.limit, err = c.feature().AtLeast("limit", maxListed, 1); err != nil {
		return r, err
	}
	switch {
	case file != "" && len(words) > 0:
		return r, c.Misused("the pairs come from %q, so none is named", file)
	case file != "":
		r.many = true
		r.pairs, err = session.ReadPairs(c.ctx, f, file)
	case len(words) == 1:
		return r, c.Misused("DST is missing")
	case len(words) != 2:
		return r, c.Misused("it takes a source and a destination, or file=PAIRS")
	case words[0] == allWord && words[1] == allWord:
		r.many, r.all = true, true
	default:
		r.many = words[0] == allWord || words[1] == allWord
		r.pairs, err = pairsOf(f, words, c.Flag("switches"))
	}
	return r, err
}

// pairsOf is the pair that SRC DST name, or all from SRC or to DST.
func pairsOf(f *fabric.Fabric, words []string, switches bool) ([]session.Pair, error) {
	switch {
	case words[1] == allWord:
		return session.PairsFrom(f, words[0], switches)
	case words[0] == allWord:
		return session.PairsTo(f, words[1], switches)
	}
	pair, err := session.PairOf(f, words[0], words[1])
	return []session.Pair{pair}, err
}

func runTrace(c *call) error {
	st := c.session.State()
	p, perr := st.FreshTablesOf(session.Kind(c.Option("of", "")))
	if perr != nil {
		if c.Option("of", "") != "" || errors.Is(perr, session.ErrStaleTables) && !slices.Contains(c.Args, liveWord) {
			return perr
		}
		p = st.Live
	}
	if len(c.Args) == 2 && strings.HasPrefix(c.Arg(1), feature.MLIDPrefix) {
		if perr != nil {
			return perr
		}
		return c.traceGroup(&st, p, c.Arg(0), c.Arg(1))
	}
	f := p.Fabric
	if slices.Contains(c.Args, liveWord) {
		f = st.Live.Fabric
	}
	r, err := c.traceRequest(f)
	asked, aerr := c.feature().Asked()
	switch {
	case err != nil:
		return err
	case aerr != nil:
		return aerr
	}
	if err := c.fitting(&r, asked); err != nil {
		return err
	}
	switch {
	case r.live && r.all:
		return c.traceAllLive(&st, p, perr, r.limit)
	case r.live && r.many:
		return c.traceManyLive(&st, p, perr, &r)
	case r.live:
		return c.traceLive(&st, p, perr, r.pairs[0])
	case perr != nil:
		return perr
	}
	if r.all {
		return c.traceAll(&st, p, r.limit)
	}
	g, err := st.Grants(p, asked)
	switch {
	case err != nil:
		return err
	case r.many:
		return c.traceMany(&st, p, g, &r)
	}
	return c.traceOne(&st, p, g, r.pairs[0])
}

// fitting fails where options are not for what is asked for.
func (c *call) fitting(r *traceRequest, asked partitions.Asked) error {
	asIbtracert := c.Option("format", "text") == "ibtracert"
	beside := c.Flag("back") || c.Flag("lids") || c.Option("against", "") != ""
	switch {
	case r.live && !asked.Any():
		return c.Misused("sl= and pkey= are for the tables of a picture; switches forward by the LID alone")
	case asIbtracert && (r.live || r.many):
		return c.Misused("format=ibtracert is for one pair of a picture, as ibtracert prints one path of what was read")
	case c.Flag("switches") && (!r.many || c.Option("file", "") != ""):
		return c.Misused("switches is for all end ports: trace all all, trace SRC all, trace all DST")
	case beside && (r.many || r.live || asIbtracert):
		return c.Misused("back, lids and against= are for one pair of a picture")
	case r.all && !asked.Any():
		return c.Misused("sl= and pkey= are not for all pairs, only for those from or to one end: trace SRC all, trace all DST")
	}
	return nil
}

// traceOne follows a pair through the tables of a picture.
func (c *call) traceOne(st *session.State, p *session.Picture, g *partitions.Grants, pair session.Pair) error {
	path, answer := c.traced(st, p, g, pair)
	if c.Option("format", "text") == "ibtracert" {
		if err := session.Addressed(p.Fabric, pair); err != nil {
			return err
		}
		if err := c.ibtracert(p, path); err != nil {
			return err
		}
		return c.judgeTrace(answer)
	}
	if c.Flag("back") {
		answer.addBack(p, path)
	}
	if c.Flag("lids") {
		answer.addLIDs(p, path)
	}
	if kind := c.Option("against", ""); kind != "" {
		other, err := st.TablesOf(session.Kind(kind))
		if err != nil {
			return err
		}
		if err := answer.addAgainst(st, p, path, other); err != nil {
			return err
		}
	}
	if err := c.out.Answer(answer); err != nil {
		return err
	}
	return c.judgeTrace(answer)
}

func (c *call) traced(st *session.State, p *session.Picture, g *partitions.Grants, pair session.Pair) (*walk.Path, *traceAnswer) {
	path := walk.Between(p.Tables, pair.Src, pair.Dst, pair.LID)
	passage := p.Passage(g, &path, c.session.Analysis())
	answer := traceAnswerOf(p.Fabric, &path)
	answer.Of, answer.Stale, answer.Adaptive = st.Title(p), st.IsStale(p), adaptive(st)
	answer.pass(p.Tables, passage)
	answer.addChoices(p, pair.Src, pair.LID)
	answer.grant(passage.Why)
	return &path, answer
}

// ibtracert answers with the lines of ibtracert.
func (c *call) ibtracert(p *session.Picture, path *walk.Path) error {
	var text strings.Builder
	if err := walk.Ibtracert(&text, p.Tables, path); err != nil {
		return err
	}
	lines := strings.TrimSuffix(text.String(), "\n")
	return c.say(object{"lines": strings.Split(lines, "\n")}, "%s", lines)
}
