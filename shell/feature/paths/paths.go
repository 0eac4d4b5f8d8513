// SPDX-License-Identifier: Apache-2.0

// Package paths builds, changes and queries databases of path records.
package paths

import (
	"errors"
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
	"example.org/ibconsole/shell/session/pathrecords"
)

const (
	allWord  = "all"
	liveWord = "live"
)

var (
	dbOption = lang.Option{Name: "file", Kind: lang.KindFile, Summary: "query this database instead of the loaded one"}
	fileArg  = lang.Arg{Name: "FILE", Kind: lang.KindFile}
	newArg   = lang.Arg{Name: "FILE", Kind: lang.KindFile, Written: true}
)

// Feature provides the commands "paths" and "load paths".
var Feature = feature.Feature{Name: "paths", Commands: []feature.Command{
	{
		Path: "paths", Group: feature.GroupTrace, Summary: "Build, query, compare and change path records",
		Help: "Records come from a path database that load paths has loaded or that file=FILE names. Without a " +
			"database, the records\nare computed from the tables of the state.",
	},
	{
		Path: "paths build", Summary: "Write the path records of a routing",
		Args: []lang.Arg{newArg},
		Options: []lang.Option{
			feature.OfOption(), {
				Name: "trace", Kind: lang.KindWord, Words: []string{"yes", "no"},
				Summary: "store the switches of the paths", Default: "yes",
			},
			{
				Name: "sa", Kind: lang.KindFlag, Summary: "read the service levels of partitions from the SA, and " +
					"P_Keys from the switches",
			},
			{
				Name: "like", Kind: lang.KindFile, Summary: "keep the ports and their order in this database, so " +
					"that paths delta can compare the two",
			},
		},
		Examples: []string{
			"route; paths build records; paths query leaf-01 leaf-30 path file=records",
			"fail link leaf-01 36; route; paths build records of=staged",
		},
		Answers: []answer.Declared{buildDecl},
		Run:     build,
	},
	{
		Path: "paths info", Summary: "Show the contents and size of a path database",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}},
		Examples: []string{
			"paths build records; paths info records", "paths build records; load paths records; paths info",
		},
		Answers: []answer.Declared{infoDecl},
		Run:     info,
	},
	{
		Path: "load paths", Summary: "Read a path database for paths and report",
		Args: []lang.Arg{fileArg},
		Examples: []string{
			"paths build records; load paths records; paths info",
			"paths build records; load paths records; paths query node-0001 node-0648",
		},
		Answers: []answer.Declared{loadDecl},
		Run:     load,
	},
	{
		Path: "paths query", Summary: "List the records from SRC to DST, or to all",
		Args: []lang.Arg{
			{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}},
		},
		Options: append(feature.PathOptions(), feature.OfOption(), dbOption,
			lang.Option{
				Name: "path", Aliases: []string{"way"}, Kind: lang.KindFlag,
				Summary: "list the switches of the path too",
			}),
		Examples: []string{
			"paths query node-0001 node-0648", "paths query node-0001 all", "paths query node-0001 node-0648 path",
		},
		Answers: []answer.Declared{queryDecl, queryPathDecl},
		Run:     query,
	},
	{
		Path: "paths verify", Summary: "Compare records with the tables, or with the live SA",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{liveWord}, Optional: true}},
		Options: []lang.Option{
			feature.OfOption(), dbOption, {
				Name: "sample", Kind: lang.KindInt, Summary: "number of random pairs (default 100000, live 500)",
			},
			{Name: "seed", Kind: lang.KindInt, Summary: "seed of the random pairs", Default: "1"},
			feature.StrictOption(),
		},
		Examples: []string{"paths verify sample=1000", "paths build records; paths verify file=records sample=100"},
		Answers:  []answer.Declared{&verifyDecl},
		Run:      verifyRecords,
	},
	{
		Path: "paths delta", Summary: "Write the difference of path databases OLD and NEW",
		Args: []lang.Arg{{Name: "OLD", Kind: lang.KindFile}, {Name: "NEW", Kind: lang.KindFile}, newArg},
		Examples: []string{
			"paths build old; fail link leaf-01 36; route; paths build new like=old; paths delta old new delta",
			"paths build a; engine updn; route; paths build b like=a; paths delta a b b.delta",
		},
		Answers: []answer.Declared{&deltaDecl},
		Run:     delta,
	},
	{
		Path: "paths apply", Summary: "Apply a difference to a path database",
		Help: "Programs that read the database meanwhile see the state before or after the change.",
		Args: []lang.Arg{newArg, {Name: "DELTA", Kind: lang.KindFile}},
		Examples: []string{
			"paths build old; fail link leaf-01 36; route; paths build new like=old; paths delta old new delta; " +
				"paths apply old delta",
			"paths build a; engine updn; route; paths build b like=a; paths delta a b b.delta; paths apply a b.delta",
		},
		Answers: []answer.Declared{applyDecl},
		Run:     apply,
	},
	{
		Path: "paths follow", Summary: "Keep a path database equal to the live state",
		Help: "The command writes the file if it is missing. When watch finds changes, they are applied to the file. " +
			"If ports or LIDs\nare added or move, the whole file is written again. Programs that read the file see " +
			"the state before or after a change.\npaths follow off ends the updates. show events lists the changes.",
		Args: []lang.Arg{{Name: "FILE|off", Kind: lang.KindFile, Words: []string{feature.OffWord}, Written: true}},
		Options: []lang.Option{
			{
				Name: "trace", Kind: lang.KindWord, Words: []string{"yes", "no"},
				Summary: "store the switches of the paths in a new file", Default: "yes",
			},
			{
				Name: "deltas", Kind: lang.KindFile, Summary: "directory for the differences; paths apply adds " +
					"them to a copy of the file",
			},
			feature.ForOption(),
		},
		Examples: []string{"watch 10; paths follow records", "paths follow records trace=no; paths follow off"},
		Answers:  []answer.Declared{&followDecl, unfollowDecl, followedDecl},
		Run:      follow,
	},
	{
		Path: "paths acm", Summary: "Write the records for ibacm (route_prov opensm_full_v1)",
		Args: []lang.Arg{fileArg},
		Options: []lang.Option{
			feature.OfOption(), dbOption, {
				Name: "for", Kind: lang.KindPlace, Summary: "only the records of this host (default all: a line for " +
					"each pair)",
			},
		},
		Examples: []string{"paths acm acm.cfg for=node-0001", "paths build records; paths acm acm.cfg file=records"},
		Answers:  []answer.Declared{&acmDecl},
		Run:      acm,
	},
	{
		Path: "paths digest", Summary: "List the digest of each host, or find a stale ibacm file",
		Help: "The digest of a host is of its records in the order and form in which paths acm writes them. With " +
			"FILE, a file that paths\nacm wrote, each host of the file is compared with the present records. The " +
			"command fails if a host of the file is stale.",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}},
		Options: []lang.Option{
			feature.OfOption(), dbOption,
			{Name: "for", Kind: lang.KindPlace, Summary: "only the digest of this host (default all)"},
			feature.StrictOption(),
		},
		Examples: []string{"paths digest for=node-0001", "paths acm acm.cfg for=node-0001; paths digest acm.cfg"},
		Answers:  []answer.Declared{&digestDecl},
		Run:      runDigest,
	},
	{
		Path: "paths connections", Summary: "List the connections whose addresses a change affects",
		Help: "OLD and NEW are states, numbers of history entries, times, or path databases. A connection leads from " +
			"a port to a LID of\nanother port. It is listed if its service level, a LID or its alternate path " +
			"changed, or if it has no path any more. Agents\nload a new path, or the alternate path (APM), only for " +
			"these. The alternate path leads to another LID of the same port and\nshares the fewest links with the " +
			"path. Ports with one LID have none.",
		Args: []lang.Arg{{Name: "OLD", Kind: lang.KindPicture}, {Name: "NEW", Kind: lang.KindPicture}},
		Examples: []string{
			"engine updn; route; paths connections base staged",
			"paths build old; engine lash; route; paths build new of=staged; paths connections old new",
		},
		Answers: []answer.Declared{&connectionsDecl},
		Run:     runConnections,
	},
}}

// contents describes a database.
type contents struct {
	File     string       `key:"file" name:"file"`
	State    uint64       `key:"state" name:"state" help:"1 for a new database, one more after each change"`
	Origin   string       `key:"origin" name:"origin" help:"origin of the tables"`
	Built    time.Time    `key:"built" name:"built"`
	Ports    int          `key:"ports" name:"ports"`
	LIDs     int          `key:"lids" name:"LIDs"`
	Switches int          `key:"switches" name:"switches"`
	Rows     int          `key:"rows" name:"rows" help:"rows of sources"`
	Classes  int          `key:"classes" name:"kinds" help:"classes of equal paths"`
	Tables   int          `key:"table_bytes" unit:"bytes" help:"ports, LIDs and other tables"`
	Records  int          `key:"record_bytes" unit:"bytes"`
	Trace    int          `key:"trace_bytes" unit:"bytes"`
	Rest     int          `key:"rest_bytes" unit:"bytes" help:"checksums and older states"`
	Whole    int          `key:"bytes" unit:"bytes"`
	Took     answer.Value `key:"seconds" kind:"duration"`

	TablesSize  string `name:"ports, LIDs and other tables"`
	RecordsSize string `name:"records"`
	TraceSize   string `name:"traces"`
	RestSize    string `name:"checksums and older states"`
	WholeSize   string `name:"size"`
}

func contentsOf(file string, i pathdb.Info) *contents {
	x := &contents{
		File: file, State: i.State, Origin: i.Origin, Built: i.Built, Ports: i.Ports, LIDs: i.LIDs,
		Switches: i.Switches, Rows: i.Rows, Classes: i.Classes,
		Tables: i.Tables, Records: i.Records, Trace: i.Trace, Rest: i.Rest, Whole: i.Whole,
		TablesSize: size(i.Tables), RecordsSize: size(i.Records), TraceSize: "none", RestSize: size(i.Rest),
		WholeSize: size(i.Whole),
	}
	if i.HasTrace {
		x.TraceSize = size(i.Trace)
	}
	return x
}

// size returns a number of bytes as text.
func size(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	if n < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2f MB", float64(n)/1e6)
}

const contentsForm = "{file}: {size}, path records of {ports|port} ({lids|LID}) by {origin}, state {state|#}"

var (
	buildDecl = declareContents("paths build", "path records of {of}, built in {seconds}",
		answer.Item[*contents]{Line: contentsForm})
	infoDecl  = declareContents("paths info", contentsForm)
	loadDecl  = declareContents("load paths", contentsForm)
	applyDecl = declareContents("paths apply", contentsForm)
)

func declareContents(command, title string, first ...answer.Item[*contents]) *answer.Decl[*contents] {
	return &answer.Decl[*contents]{
		Command: command, Help: "contents and size of a path database", Title: title, Facts: answer.Fields[*contents](),
		Layout: append(first, []answer.Item[*contents]{
			{Line: "  ports, LIDs and other tables  {ports, LIDs and other tables}"},
			{Line: "  records                       {records}: {rows|row} of sources, {classes|kind} of paths"},
			{Line: "  traces                        {traces}"},
			{Line: "  checksums and older states    {checksums and older states}"},
		}...),
	}
}

func build(c *feature.Call) error {
	if c.Arg(0) == "-" {
		return files.ErrStream
	}
	var like *pathdb.View
	if name := c.Option("like", ""); name != "" {
		db, err := pathdb.Open(c.Ctx, name)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		like = db.View()
	}
	if c.Flag("sa") && c.Session.State().PKeys == nil {
		if _, err := c.Session.SweepFor(c.Ctx, session.Reads{PKeys: true}); err != nil {
			return err
		}
	}
	image, rep, err := pathrecords.Build(c.Ctx, c.Session, session.Kind(c.Option("of", "")),
		c.Option("trace", "yes") == "yes", like, c.Flag("sa"))
	if err != nil {
		return err
	}
	if err := pathdb.WriteFile(c.Arg(0), image); err != nil {
		return err
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		return err
	}
	b, err := tablesBasis(c, &rep)
	if err != nil {
		return err
	}
	if rep.UnknownSLs {
		b.Warnings = append(b.Warnings, noSLs)
	}
	x := contentsOf(c.Arg(0), db.View().Info())
	x.Took = answer.Duration(rep.Took)
	return c.Answer(buildDecl.Answer(b, x))
}

// noSLs is the warning for records whose service levels are unknown.
var noSLs = partitions.ErrUnreadSLs.Error() + ": the records have SL 0"

func info(c *feature.Call) error {
	if name := c.Arg(0); name != "" {
		return infoOf(c, infoDecl, name)
	}
	db, name := pathrecords.Opened(c.Session)
	if db == nil {
		return errors.New("no path database is loaded; hint: run 'paths info FILE' or 'load paths FILE'")
	}
	return c.Answer(infoDecl.Answer(fileBasis(name), contentsOf(name, db.View().Info())))
}

func load(c *feature.Call) error {
	db, err := pathrecords.Open(c.Ctx, c.Session, c.Arg(0))
	if err != nil {
		return err
	}
	return c.Answer(loadDecl.Answer(fileBasis(c.Arg(0)), contentsOf(c.Arg(0), db.View().Info())))
}

func infoOf(c *feature.Call, decl *answer.Decl[*contents], file string) error {
	db, err := pathdb.Open(c.Ctx, file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return c.Answer(decl.Answer(fileBasis(file), contentsOf(file, db.View().Info())))
}

// difference is the answer about a difference between two databases that was written to a file.
type difference struct {
	File  string       `key:"file" name:"file"`
	Bytes int          `key:"bytes" unit:"bytes"`
	Of    int          `key:"of_bytes" unit:"bytes" help:"the size of the database"`
	Size  string       `name:"size"`
	Part  answer.Value `key:"percent" name:"part" kind:"float" unit:"%"`
}

var deltaDecl = answer.Decl[*difference]{
	Command: "paths delta", Help: "the difference", Title: "{file}: {size}, {percent} % of the database",
	Facts:  answer.Fields[*difference](),
	Layout: []answer.Item[*difference]{},
}

func delta(c *feature.Call) error {
	if c.Arg(2) == "-" {
		return files.ErrStream
	}
	old, err := pathdb.Open(c.Ctx, c.Arg(0))
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }()
	fresh, err := pathdb.Open(c.Ctx, c.Arg(1))
	if err != nil {
		return err
	}
	defer func() { _ = fresh.Close() }()
	d, err := pathdb.Delta(old.View(), fresh.View())
	if err != nil {
		return fmt.Errorf("%w; hint: 'paths build FILE like=%s' keeps the order if ports were only removed", err,
			lang.Quote(fabric.Escape(c.Arg(0))))
	}
	if err := pathdb.WriteFile(c.Arg(2), d); err != nil {
		return err
	}
	whole := old.View().Info().Whole
	x := difference{c.Arg(2), len(d), whole, size(len(d)), answer.Float(100*float64(len(d))/float64(whole), 2)}
	return c.Answer(deltaDecl.Answer(fileBasis(c.Arg(2)), &x))
}

func apply(c *feature.Call) error {
	d, err := files.All(c.Ctx, c.Arg(1), files.Delta)
	if err != nil {
		return err
	}
	if err := pathdb.Apply(c.Ctx, c.Arg(0), d); err != nil {
		return err
	}
	return infoOf(c, applyDecl, c.Arg(0))
}

// written is a written file for ibacm.
type written struct {
	File string `key:"file" name:"file"`
}

var acmDecl = answer.Decl[*written]{
	Command: "paths acm", Help: "the file", Title: "{file} of {of} written; in ibacm_opts.cfg: route_preload " +
		"opensm_full_v1, route_data_file {file}", Facts: answer.Fields[*written](),
	Layout: []answer.Item[*written]{},
}

func acm(c *feature.Call) error {
	v, err := open(c)
	if err != nil {
		return err
	}
	defer v.close()
	if v.unknownSLs {
		v.basis.Warnings = append(v.basis.Warnings, noSLs)
	}
	sources := func(pathdb.PortIndex) bool { return true }
	if host := c.Option("for", ""); host != "" {
		only, _, err := portOf(c, v.View, host)
		if err != nil {
			return err
		}
		sources = func(i pathdb.PortIndex) bool { return i == only }
	}
	path := c.Arg(0)
	write := func(w io.Writer) error { return writeForACM(c.Ctx, w, v.View, sources) }
	if path == "-" {
		return c.Raw(write)
	}
	if err := files.Write(path, write); err != nil {
		return err
	}
	return c.Answer(acmDecl.Answer(v.basis, &written{path}))
}
