// SPDX-License-Identifier: Apache-2.0

// Package trace follows the paths of packets: through the tables of a state, or through those that the switches hold
// now.
package trace

import (
	"errors"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
)

// liveWord has the switches asked.
const liveWord = "live"

// Feature is the commands trace and show torus.
var Feature = feature.Feature{Name: "trace", Keys: []feature.Key{
	{Name: "pane-4", Keys: "4", Pane: "Trace", Help: "the path of packets, hop by hop"},
}, Commands: []feature.Command{
	{
		Path:    "trace",
		Group:   feature.GroupTrace,
		Summary: "Trace the path from SRC to DST",
		Help: "The path is that of the tables of a state; live: of the tables that the switches hold now.\n" +
			"DST may be a multicast LID, mlid:0xC000: the tree that a packet takes is drawn then.\n" +
			"all is every end port of hosts and routers, with the option switches port 0 of switches, too: trace all " +
			"all, trace SRC all, trace all DST.\n" +
			"Each LID of a destination is a path of its own, but of one that is named by a LID. Paths that arrive " +
			"are put together by their first and\n" +
			"last switches and the switches that they pass, of all pairs those that do not by the place where they " +
			"end. trace live all all reads the\n" +
			"subnet first; the live state stays as it was. It fails where a path does not arrive, and where\n" +
			"that is unknown, as a table was not read, unless strict=no is given.",
		Args: []lang.Arg{
			{Name: "SRC|all", Kind: lang.KindPlace, Words: []string{liveWord, feature.AllWord}, Optional: true},
			{Name: "DST|all", Kind: lang.KindPlace, Words: []string{liveWord, feature.AllWord}, Optional: true},
			{Name: "live", Kind: lang.KindPlace, Words: []string{liveWord, feature.AllWord}, Optional: true},
		},
		Options: append(feature.PathOptions(), []lang.Option{
			feature.OfOption(),
			{Name: "file", Kind: lang.KindFile, Summary: "trace the pairs of a file, a line each: SRC DST"},
			{Name: "switches", Kind: lang.KindFlag, Summary: "count port 0 of switches among the end ports of all"},
			{
				Name: "format", Kind: lang.KindWord, Words: []string{"text", ibtracertWord},
				Summary: "ibtracert: the lines of ibtracert",
			},
			{Name: "back", Kind: lang.KindFlag, Summary: "of one pair: the path back, next to this one"},
			{
				Name: "lids", Kind: lang.KindFlag, Summary: "of one pair: the paths to all LIDs of DST, and what " +
					"they share with this one",
			},
			{Name: "against", Kind: lang.KindPicture, Value: strings.Join(feature.StateNames(), "|") + "|ID",
				Summary: "of one pair: the path in another state, next to this one"},
			{
				Name: "limit", Kind: lang.KindInt, Summary: "how many switch pairs, and of all pairs places of each " +
					"kind, are listed (default 20)",
			},
			feature.StrictOption(),
		}...),
		Examples: []string{
			"trace node-0001 node-0648 back", "trace node-0001 node-0648 lids against=live", "trace leaf-01 all",
			"trace all all limit=3", "trace live node-0001 node-0648",
		},
		Answers: []answer.Declared{pathDecl, &manyDecl, &groupDecl, &linesDecl},
		Run:     run,
	},
	{
		Path:    "show torus",
		Summary: "Draw the switches of a torus at their coordinates",
		Help: "The tables must be those of torus-2QoS. Datelines and lost links are marked, and a path or a tree.\n" +
			"For programs each switch is an object, with the directions of its links.",
		Options: torusOptions(),
		Examples: []string{
			"gen torus 3x3 torus.net; load topology torus.net; engine torus-2QoS; route; show torus " +
				"path=node-0001,node-0009",
		},
		Answers: []answer.Declared{&torusDecl},
		Run:     runTorus,
	},
}}

var pathDecl = declarePath("trace")

// request is what a trace command asks for.
type request struct {
	live  bool
	many  bool
	pairs []pairs.Pair
	all   bool // every pair, which pairs does not list
	limit int  // how much is listed of what is alike
}

func requestOf(c *feature.Call, f *fabric.Fabric) (request, error) {
	var r request
	words := slices.Clone(c.Args)
	if i := slices.Index(words, liveWord); i >= 0 {
		r.live = true
		words = slices.Delete(words, i, i+1)
	}
	file := c.Option("file", "")
	var err error
	if r.limit, err = c.AtLeast("limit", maxListed, 1); err != nil {
		return r, err
	}
	switch {
	case file != "" && len(words) > 0:
		return r, c.Misused("the pairs come from %q, so none is named", file)
	case file != "":
		r.many = true
		r.pairs, err = pairs.Read(c.Ctx, f, file)
	case len(words) == 1:
		return r, c.Misused("DST is missing")
	case len(words) != 2:
		return r, c.Misused("it takes a source and a destination, or file=PAIRS")
	case words[0] == feature.AllWord && words[1] == feature.AllWord:
		r.many, r.all = true, true
	default:
		r.many = words[0] == feature.AllWord || words[1] == feature.AllWord
		r.pairs, err = feature.PairsOf(f, words[0], words[1], c.Flag("switches"))
	}
	return r, err
}

func run(c *feature.Call) error {
	st := c.Session.State()
	s, serr := st.FreshTablesOf(session.Kind(c.Option("of", "")))
	if serr != nil {
		if c.Option("of", "") != "" || errors.Is(serr, session.ErrStaleTables) && !slices.Contains(c.Args, liveWord) {
			return serr
		}
		s = st.Live
	}
	if len(c.Args) == 2 && strings.HasPrefix(c.Arg(1), feature.MLIDPrefix) {
		if serr != nil {
			return serr
		}
		return traceGroup(c, &st, s, c.Arg(0), c.Arg(1))
	}
	f := s.Fabric
	if slices.Contains(c.Args, liveWord) {
		f = st.Live.Fabric
	}
	r, err := requestOf(c, f)
	if err != nil {
		return err
	}
	asked, err := c.Asked()
	if err != nil {
		return err
	}
	if err := fits(c, &r, asked); err != nil {
		return err
	}
	switch {
	case r.live && r.all:
		return traceAllLive(c, &st, s, serr, r.limit)
	case r.live && r.many:
		return traceManyLive(c, &st, s, serr, &r)
	case r.live:
		return traceLive(c, &st, s, serr, r.pairs[0])
	case serr != nil:
		return serr
	case r.all:
		return traceAll(c, &st, s, r.limit)
	}
	g, err := st.Grants(s, asked)
	switch {
	case err != nil:
		return err
	case r.many:
		return traceMany(c, &st, s, g, &r)
	}
	return traceOne(c, &st, s, g, r.pairs[0])
}

const ibtracertWord = "ibtracert"

// fits fails where options are not for what is asked for.
func fits(c *feature.Call, r *request, asked partitions.Asked) error {
	asIbtracert := c.Option("format", "text") == ibtracertWord
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
		return c.Misused("sl= and pkey= are not for all pairs, only for those from or to one end: trace SRC all, " +
			"trace all DST")
	}
	return nil
}

// traceOne follows a pair through the tables of a state.
func traceOne(c *feature.Call, st *session.State, s *session.Picture, g *partitions.Grants, pair pairs.Pair) error {
	of, p := traced(c, st, s, g, pair)
	if c.Option("format", "text") == ibtracertWord {
		if err := pairs.Addressed(s.Fabric, pair); err != nil {
			return err
		}
		return ibtracert(c, s, of, p)
	}
	if c.Flag("back") {
		p.addBack(s, of)
	}
	if c.Flag("lids") {
		p.addLIDs(s, of)
	}
	if kind := c.Option("against", ""); kind != "" {
		in, err := st.TablesOf(session.Kind(kind))
		if err != nil {
			return err
		}
		if err := p.addAgainst(st, s, of, in); err != nil {
			return err
		}
	}
	return c.Answer(pathDecl.Answer(p.basis, p))
}

// lines is a path as ibtracert prints it.
type lines struct {
	Lines []string `key:"lines" help:"the lines that ibtracert prints"`
	path  *path
}

var linesDecl = answer.Decl[*lines]{
	Command: "trace", Help: "the path between two end ports, as ibtracert prints it",
	Title: "the lines of ibtracert, of {of}", Facts: answer.Fields[*lines](),
	Layout: []answer.Item[*lines]{}, Verdict: func(l *lines) (answer.Verdict, string) {
		return l.path.verdict()
	}, Fails: answer.Always,
}

// ibtracert writes the lines of ibtracert, for people as they are.
func ibtracert(c *feature.Call, s *session.Picture, of *walk.Path, p *path) error {
	var text strings.Builder
	if err := walk.Ibtracert(&text, s.Tables, of); err != nil {
		return err
	}
	a := linesDecl.Answer(p.basis, &lines{strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), p})
	if w := c.Output.File(); w != nil {
		if _, err := io.WriteString(w, text.String()); err != nil {
			return err
		}
		return c.VerdictError(a)
	}
	return c.Answer(a)
}
