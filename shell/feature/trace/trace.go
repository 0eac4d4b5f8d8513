// SPDX-License-Identifier: Apache-2.0

// Package trace traces the paths of packets, either through the tables of a state or through the present tables of the
// switches.
package trace

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
)

// liveWord is the argument that requests a trace through the present tables of the switches.
const liveWord = "live"

// Feature provides the commands "trace" and "show torus".
var Feature = feature.Feature{Name: "trace", Keys: []feature.Key{
	{Name: "pane-4", Keys: "4", Pane: "Trace", Help: "the path of packets, hop by hop"},
}, Commands: []feature.Command{
	{
		Path:    "trace",
		Group:   feature.GroupTrace,
		Summary: "Trace the path from SRC to DST",
		Help: "The path follows the tables of a state. With the word live, trace reads the tables that the switches " +
			"hold now; the live\nstate does not change.\nThe word all stands for all end ports of hosts and routers: " +
			"trace all all, trace SRC all, trace all DST. With the word\nswitches, all includes port 0 of each " +
			"switch. If SRC is a port of a switch, the path begins at port 0 of that switch.\nIf DST is a node or " +
			"port with several LIDs, trace follows a path to each of its LIDs. If DST is a LID, trace follows\nonly " +
			"the path to this LID. If DST is a multicast LID such as mlid:0xC000, trace draws the tree of the " +
			"packet.\nWith all, paths that arrive are grouped by their first and last switches. Other paths are " +
			"grouped by the place where\nthey end.\n@NAME stands for the hosts of a set (help hosts). With @NAME " +
			"or file=FILE, trace lists a row for each path, and paths that\ndo not arrive come first. For file=FILE " +
			"the text shows only the first rows; CSV and JSON have all rows. With\nformat=ibtracert, the paths keep " +
			"the order of the pairs.\nWith the word rows, trace lists a row for each path, by GUID of the source and " +
			"LID, each pair once. The digest covers\nports and results, but no names: equal digests are equal paths. " +
			"save=FILE writes these paths to a file, for diff traces.\ntrace fails if a path does not " +
			"arrive. It also fails if a table of the path was not read, unless strict=no is given.",
		Args: []lang.Arg{
			{Name: "SRC|@NAME|all", Kind: lang.KindPlace, Words: []string{liveWord, feature.AllWord}, Optional: true},
			{Name: "DST|@NAME|all", Kind: lang.KindPlace, Words: []string{liveWord, feature.AllWord}, Optional: true},
			{Name: "live", Kind: lang.KindPlace, Words: []string{liveWord, feature.AllWord}, Optional: true},
		},
		Options: slices.Concat(feature.PathOptions(), feature.RequestOptions(), []lang.Option{
			feature.OfOption(),
			{Name: "file", Kind: lang.KindFile, Summary: "trace the pairs of a file with lines SRC DST"},
			{Name: "rows", Kind: lang.KindFlag, Summary: "list a row for each path, in a stable order, with a digest"},
			{Name: "save", Kind: lang.KindFile, Written: true, Summary: "write the paths to a file for diff traces"},
			{Name: "switches", Kind: lang.KindFlag, Summary: "let the word all include port 0 of each switch"},
			{
				Name: "format", Kind: lang.KindWord, Words: []string{"text", ibtracertWord},
				Summary: "format of the path, as ibtracert prints it or as text", Default: "text",
			},
			{Name: "back", Kind: lang.KindFlag, Summary: "compare with the reverse path, DST to SRC (one pair)"},
			{
				Name: "lids", Kind: lang.KindFlag, Summary: "list the paths to all LIDs of DST, with shared links " +
					"(one pair)",
			},
			{Name: "against", Kind: lang.KindPicture, Value: strings.Join(feature.StateNames(), "|") + "|ID",
				Summary: "compare with the path in another state (one pair)"},
			{
				Name: "limit", Kind: lang.KindInt, Default: "20",
				Summary: "number of listed switch pairs, rows, and places of each kind",
			},
			feature.StrictOption(),
		}),
		Examples: []string{
			"trace node-0001 node-0648 back", "trace node-0001 node-0648 lids against=live", "trace leaf-01 all",
			"trace all all limit=3", "trace node-0001 all rows save=node-0001.traces", "trace live node-0001 node-0648",
			"hosts job1 node-[0001-0008]; trace @job1 @job1; trace live @job1 node-0648 format=ibtracert",
		},
		Answers: []answer.Declared{pathDecl, &manyDecl, &listDecl, &groupDecl, &linesDecl, &manyLinesDecl},
		Run:     run,
	},
	{
		Path:    "show torus",
		Summary: "Draw the switches of a torus at their coordinates",
		Help: "The tables must be those of torus-2QoS. Datelines and lost links are marked. With path=A,B a path is " +
			"marked, with\ntree=MLID a multicast tree. In JSON each switch is an object with the directions of its " +
			"links.",
		Options: torusOptions(),
		Examples: []string{
			"gen torus 3x3 torus.net; load topology torus.net; engine torus-2QoS; route; show torus " +
				"path=node-0001,node-0009",
			"gen torus 3x3 torus.net; load topology torus.net; engine torus-2QoS; route; show torus tree=master",
		},
		Answers: []answer.Declared{&torusDecl},
		Run:     runTorus,
	},
}}

var pathDecl = declarePath("trace")

// request holds the pairs that a trace command requests.
type request struct {
	live  bool
	many  bool
	pairs []pairs.Pair
	all   bool // every pair; pairs is empty
	limit int  // rows of a list

	listed    bool // the answer has a row for each path
	rows      bool // the text has all rows
	canonical bool // the rows are in the order of files of traces
	save      string
	ibtracert bool // the answer has the lines of ibtracert

	warnings []string
}

func requestOf(c *feature.Call, f *fabric.Fabric) (request, error) {
	r := request{
		rows: c.Flag("rows"), ibtracert: c.Option("format", "text") == ibtracertWord, save: c.Option("save", ""),
	}
	r.canonical = r.rows || r.save != ""
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
		return r, c.Misused("the pairs are in file=%q, so SRC and DST are not allowed", file)
	case file != "":
		r.many = true
		r.pairs, err = pairs.Read(c.Ctx, f, file)
	case len(words) == 1:
		return r, c.Misused("DST is missing")
	case len(words) != 2:
		return r, c.Misused("expected a source and a destination, or file=PAIRS")
	case words[0] == feature.AllWord && words[1] == feature.AllWord && !r.canonical:
		r.many, r.all = true, true
	case strings.HasPrefix(words[0], feature.SetPrefix) || strings.HasPrefix(words[1], feature.SetPrefix),
		words[0] == feature.AllWord && words[1] == feature.AllWord:
		r.many, r.rows = true, true
		err = r.addSets(c, f, words)
	default:
		r.many = words[0] == feature.AllWord || words[1] == feature.AllWord
		r.pairs, err = feature.PairsOf(f, words[0], words[1], c.Flag("switches"))
		r.warnings = ignoredPorts(f, words)
	}
	r.listed = r.rows || r.canonical || file != ""
	r.many = r.many || r.canonical
	if r.canonical {
		pairs.Sort(f, r.pairs)
		r.pairs = slices.Compact(r.pairs)
	}
	return r, err
}

// maxPairs is the maximum number of pairs of two sets.
const maxPairs = feature.MaxFilteredHosts * feature.MaxFilteredHosts

// addSets adds the pairs of two sides: sets of hosts, places, or all end ports.
func (r *request) addSets(c *feature.Call, f *fabric.Fabric, words []string) error {
	var sides [2][]places.Place
	for i, word := range words {
		name, isSet := strings.CutPrefix(word, feature.SetPrefix)
		switch {
		case isSet:
			members, err := c.SetMembers(f, name)
			if err != nil {
				return err
			}
			sides[i] = pairs.Places(f, members.Ends())
			if i == 0 || word != words[0] {
				r.warnings = append(r.warnings, members.Warnings(name)...)
			}
		case word == feature.AllWord:
			ends, unreachable := f.Ends(c.Flag("switches"))
			sides[i] = pairs.Places(f, append(ends, unreachable...))
		default:
			p, err := places.Resolve(f, word)
			if err != nil {
				return err
			}
			sides[i] = []places.Place{p}
			r.warnings = append(r.warnings, ignoredPorts(f, words[i:i+1])...)
		}
	}
	if n := len(sides[0]) * len(sides[1]); n > maxPairs {
		return fmt.Errorf("%s pairs are too many to list, the maximum is %s", prose.Thousands(n),
			prose.Thousands(maxPairs))
	}
	from := make([]fabric.PortIndex, len(sides[0]))
	for i, p := range sides[0] {
		from[i] = f.EndPortOf(p.Port)
	}
	if r.pairs = pairs.Product(f, from, sides[1]); len(r.pairs) == 0 {
		return fmt.Errorf("no pairs of %s and %s", words[0], words[1])
	}
	return nil
}

// ignoredPorts returns a warning for each word that names a port of a switch other than port 0.
func ignoredPorts(f *fabric.Fabric, words []string) (warnings []string) {
	for _, word := range words {
		p, err := places.Resolve(f, word)
		if err == nil && p.PortNamed && !p.LIDNamed && f.Nodes[p.Node].IsSwitch() && f.Ports[p.Port].Num != 0 {
			warnings = append(warnings,
				f.PortName(p.Port)+": the port is ignored, as packets of a switch come from and go to port 0")
		}
	}
	return warnings
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
	if err := checkOptions(c, &r, asked); err != nil {
		return err
	}
	switch {
	case r.live && r.all:
		return traceAllLive(c, &st, s, serr, r.limit)
	case r.live && (r.many || r.ibtracert):
		return traceManyLive(c, &st, s, serr, &r)
	case r.live:
		return traceLive(c, &st, s, serr, &r)
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
	return traceOne(c, &st, s, g, &r)
}

const ibtracertWord = "ibtracert"

// checkOptions returns an error if an option does not apply to the request.
func checkOptions(c *feature.Call, r *request, asked partitions.Asked) error {
	compares := c.Flag("back") || c.Flag("lids") || c.Option("against", "") != ""
	switch {
	case r.live && !asked.Any():
		return c.Misused("sl= and pkey= apply to the tables of a state only; switches forward by the LID")
	case r.all && r.ibtracert:
		return c.Misused("format=ibtracert does not apply to all pairs, only to trace SRC all and trace all DST")
	case r.canonical && r.ibtracert:
		return c.Misused("rows and save= do not apply to format=ibtracert")
	case r.save == "-":
		return files.ErrStream
	case c.Flag("switches") && (!r.many || c.Option("file", "") != ""):
		return c.Misused("switches applies to all end ports: trace all all, trace SRC all, trace all DST")
	case compares && (r.many || r.live || r.ibtracert):
		return c.Misused("back, lids and against= apply to one pair of a state only")
	case r.all && !asked.Any():
		return c.Misused("sl= and pkey= do not apply to all pairs, only to trace SRC all and trace all DST")
	}
	return nil
}

// traceOne traces a pair through the tables of a state.
func traceOne(c *feature.Call, st *session.State, s *session.Picture, g *partitions.Grants, r *request) error {
	pair := r.pairs[0]
	of, p := tracePair(c, st, s, g, pair)
	p.basis.Warnings = append(p.basis.Warnings, r.warnings...)
	if r.ibtracert {
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

// lines is the answer with a path as ibtracert prints it.
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

// ibtracert answers with the lines that ibtracert would print. In text, these lines are unchanged.
func ibtracert(c *feature.Call, s *session.Picture, of *walk.Path, p *path) error {
	text, err := ibtracertText(s.Tables, of)
	if err != nil {
		return err
	}
	a := linesDecl.Answer(p.basis, &lines{linesOf(text), p})
	if w := c.Output.File(); w != nil {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return c.VerdictError(a)
	}
	return c.Answer(a)
}
