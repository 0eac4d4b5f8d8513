// SPDX-License-Identifier: Apache-2.0

// Package dump writes routes and topologies to files.
package dump

import (
	"io"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
)

// Feature is the commands dump.
var Feature = feature.Feature{Name: "dump", Keys: []feature.Key{
	{Name: "dump", Keys: "D", Help: "write routes or the topology to a file, step by step"},
}, Commands: commands()}

func commands() []feature.Command {
	all := []feature.Command{
		{
			Path: "dump", Group: feature.GroupFiles, Summary: "Write routes or the topology to a file (- for stdout)",
			Options: []lang.Option{feature.OfOption()},
		},
	}
	for _, d := range dumps.Forms {
		c := feature.Command{
			Path: "dump " + d.Kind, Summary: "Write " + d.Summary, Help: d.Help,
			Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Written: true}},
			Examples: []string{
				d.Setup() + "dump " + d.Kind + " written", d.Setup() + "dump " + d.Kind + " other of=staged",
			},
		}
		if d.Folder {
			decl := folderDecl(c.Path)
			c.Args[0].Name, c.Answers, c.Run = "FOLDER", []answer.Declared{decl}, func(c *feature.Call) error {
				return folder(c, decl)
			}
		} else {
			decl := fileDecl(c.Path, d.Kind)
			c.Answers, c.Run = []answer.Declared{decl}, func(c *feature.Call) error { return file(c, decl, d.Kind) }
		}
		all = append(all, c)
	}
	return append(all, feature.Guided("dump", "write", func(c *feature.Call) *guided.Flow {
		return guided.Dump(c.Session, nil)
	}))
}

// written is a file that was written.
type written struct {
	File string `key:"file"`
}

func fileDecl(command, kind string) *answer.Decl[written] {
	return feature.OneLine[written](command, "the file that was written", kind+" of {of} written to {file}")
}

func file(c *feature.Call, decl *answer.Decl[written], kind string) error {
	b, err := basis(c)
	if err != nil {
		return err
	}
	path := c.Arg(0)
	write := func(w io.Writer) (err error) {
		b.Title, err = dumps.Write(c.Ctx, c.Session, kind, session.Kind(c.Option("of", "")), w)
		return err
	}
	if path == "-" {
		c.Output.Remarks(b)
		return c.Raw(write)
	}
	if err := files.Write(path, write); err != nil {
		return err
	}
	return c.Answer(decl.Answer(b, written{path}))
}

// basis returns the basis of a file that is written, or an error if the state does not exist.
func basis(c *feature.Call) (answer.Basis, error) {
	st, p, err := c.State()
	if err != nil {
		return answer.Basis{}, err
	}
	return st.Basis(p, session.NeedLinks|session.NeedFile), nil
}

// folderWritten is the answer about a folder that was written.
type folderWritten struct {
	File  string   `key:"file" help:"the folder"`
	Files []string `key:"files" help:"the files in it"`
	Notes []string `key:"notes" help:"data that the files omit"`
}

func folderDecl(command string) *answer.Decl[folderWritten] {
	decl := feature.OneLine[folderWritten](command, "the files that were written", "{files} of {of} written to {file}")
	decl.Layout = []answer.Item[folderWritten]{{Line: "  note: {notes}", Each: "notes"}}
	return decl
}

// folder writes the same files as ibdiagnet to a folder.
func folder(c *feature.Call, decl *answer.Decl[folderWritten]) error {
	path := c.Arg(0)
	if path == "-" {
		return c.Misused("a folder cannot go to standard output; name a folder")
	}
	b, err := basis(c)
	if err != nil {
		return err
	}
	d, err := dumps.Folder(c.Ctx, c.Session, path, session.Kind(c.Option("of", "")))
	if err != nil {
		return err
	}
	b.Title = d.Title
	return c.Answer(decl.Answer(b, folderWritten{path, d.Names, d.Notes}))
}
