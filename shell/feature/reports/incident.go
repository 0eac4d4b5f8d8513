// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/incident"
	"example.org/ibconsole/shell/session/smlog"
)

var incidentCommand = feature.Command{
	Path: "report incident", Summary: "Write an archive with all that is known of an incident",
	Help: "The archive has problems, events, changes, traces of affected pairs, counters, lines of the subnet " +
		"manager's\nlog, and the states before and after. README.txt in the archive lists its files and what is " +
		"missing. mask=yes replaces\nnames, GUIDs and addresses, each by the same text in the whole archive. " +
		"ibconsole -s file:FILE shows the state\nafter, and -s file:FILE/before the state before.",
	Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Written: true}},
	Options: []lang.Option{
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "begin of the incident; " + when.Help,
			Default: "1h"},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "end of the incident", Default: "now"},
		{Name: "mask", Kind: lang.KindWord, Value: "yes|no", Words: []string{"yes", "no"}, Default: "no",
			Summary: "replace names, GUIDs and addresses"},
		{Name: "smlog", Kind: lang.KindFile, Value: "FILE",
			Summary: "the subnet manager's log (default: the followed one)"},
	},
	Examples: []string{
		"report incident incident.tar.gz since=1h",
		"report incident masked.tar.gz since=2h until=1h mask=yes",
	},
	Answers: []answer.Declared{bundleDecl},
	Run:     runIncident,
}

// bundle describes a written archive.
type bundle struct {
	File    string   `key:"file" name:"file"`
	Masked  bool     `key:"masked" name:"masked" help:"names, GUIDs and addresses are replaced"`
	Count   int      `key:"count" name:"count" help:"files in the archive"`
	Files   []string `key:"files" name:"files" kind:"texts" help:"the files in the archive"`
	Missing []string `key:"missing" name:"missing" kind:"texts" help:"parts that are not in it, and why"`
}

var bundleDecl = &answer.Decl[*bundle]{
	Command: "report incident", Help: "the archive", Facts: answer.Fields[*bundle](), Action: true,
	Title: "{count|file} written to {file}",
	Layout: []answer.Item[*bundle]{
		{Line: "  {files}", Each: "files"},
		{Line: "  not in it: {missing}", Each: "missing"},
		{Line: "{?masked}names are masked: look through the archive before you send it"},
	},
}

func runIncident(c *feature.Call) error {
	file := c.Arg(0)
	if !strings.HasSuffix(file, ".tar.gz") && !strings.HasSuffix(file, ".tgz") {
		return c.Misused("FILE=%q, expected a name that ends in .tar.gz or .tgz", file)
	}
	since, until, err := c.Span("1h")
	if err != nil {
		return err
	}
	st := c.Session.State()
	opt := incident.Options{Since: since, Until: until, Mask: c.Option("mask", "no") == "yes",
		SMLog: c.Option("smlog", ""), Words: []string{st.Source.String()}}
	if l := smlog.Of(&st); l != nil && opt.SMLog == "" {
		opt.SMLog = l.File
	}
	b, err := incident.Gather(c.Ctx, c.Session, opt)
	if err != nil {
		return err
	}
	if err := files.Write(file, b.Write); err != nil {
		return err
	}
	return c.Answer(bundleDecl.Answer(st.SourceBasis(), &bundle{fabric.Escape(file), opt.Mask, len(b.Files), b.Files,
		b.Missing}))
}
