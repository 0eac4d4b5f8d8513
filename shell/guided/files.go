// SPDX-License-Identifier: Apache-2.0

package guided

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
)

// Dump returns the flow that asks what to write, in which format and to which file. The argument shown is a past state
// that is among the choices, or nil.
func Dump(s *session.Session, shown *session.Picture) *Flow {
	return &Flow{answers: map[string]string{}, next: func(f *Flow) (*Question, error) {
		st := s.State()
		switch {
		case !f.has("of"):
			q := &Question{Name: "of", Text: "Which state of the subnet?", Default: string(st.Default().Kind)}
			for _, p := range []*session.Picture{shown, st.Live, st.Base, st.WhatIf, st.Staged} {
				if p == nil {
					continue
				}
				if p.Kind.IsPast() {
					q.Default = p.Kind.Word()
				}
				q.Choices = append(q.Choices, Choice{
					p.Kind.Word(), fmt.Sprintf("%s, as of %s", st.Title(p), when.Clock(p.When)),
				})
			}
			return q, nil
		case !f.has("kind"):
			p, err := st.Of(session.Kind(f.answers["of"]))
			if err != nil {
				return nil, err
			}
			return dumpKinds(p), nil
		case !f.has("file"):
			return &Question{Name: "file", Text: "To which file?", Files: files.Folder, check: writable}, nil
		case !f.has("replace") && exists(f.answers["file"]):
			return &Question{Name: "replace", Text: fabric.Escape(f.answers["file"]) + " exists. Replace it?",
				Default: "no",
				Choices: []Choice{{"yes", "overwrite its contents"}, {"no", "choose another file"}}}, nil
		case f.answers["replace"] == "no":
			delete(f.answers, "replace")
			delete(f.answers, "file")
			return f.next(f)
		}
		return nil, nil
	}, command: func(f *Flow) string {
		return fmt.Sprintf("dump %s %s of=%s", f.answers["kind"], lang.Quote(f.answers["file"]), f.answers["of"])
	}}
}

// dumpKinds returns the question for a format in which a state can be written.
func dumpKinds(p *session.Picture) *Question {
	q := &Question{Name: "kind", Text: "In which format?"}
	for _, d := range dumps.Forms {
		t := p.Tables
		switch {
		case d.Routes && t == nil, d.Kind == "sl2vl" && t.SL2VL == nil, d.Kind == "sls" && t.SLs == nil,
			d.Kind == "ca-order" && p.CAOrder == nil:
			continue
		}
		q.Choices = append(q.Choices, Choice{d.Kind, d.Summary})
	}
	if p.Tables == nil {
		q.Explain = []string{"The state has no forwarding tables, so there are no routes to write; hint: run 'route'."}
	}
	return q
}

// Load returns the flow that asks for a file and its format. Before the confirmation, it shows how the file differs
// from the subnet.
func Load(ctx context.Context, s *session.Session) *Flow {
	var preview []string
	return &Flow{answers: map[string]string{}, next: func(f *Flow) (*Question, error) {
		switch {
		case !f.has("file"):
			return &Question{Name: "file", Text: "Which file?", Files: files.Folder, check: func(path string) error {
				return readable(ctx, path)
			}}, nil
		case !f.has("kind"):
			q := &Question{Name: "kind", Text: "What is it?", Default: formats.Kind(ctx, f.answers["file"])}
			for _, d := range dumps.Forms {
				if !d.WriteOnly {
					q.Choices = append(q.Choices, Choice{d.Kind, d.Summary})
				}
			}
			q.check = func(kind string) (err error) {
				preview, err = dumps.Preview(ctx, s, kind, f.answers["file"])
				return err
			}
			return q, nil
		case !f.has("go on"):
			return &Question{Name: "go on", Text: "Continue?", Explain: preview, Default: "yes",
				Choices: []Choice{{"yes", "continue"}, {"no", "choose another file"}}}, nil
		case f.answers["go on"] == "no":
			clear(f.answers)
			return f.next(f)
		}
		return nil, nil
	}, command: func(f *Flow) string {
		return fmt.Sprintf("load %s %s", f.answers["kind"], lang.Quote(f.answers["file"]))
	}}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// writable returns an error if it is already certain that the file cannot be created.
func writable(path string) error {
	dir, err := os.Stat(filepath.Dir(path))
	switch {
	case err != nil:
		return err
	case !dir.IsDir():
		return fmt.Errorf("%s is not a directory", fabric.Escape(filepath.Dir(path)))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory", fabric.Escape(path))
	}
	return nil
}

func readable(ctx context.Context, path string) error {
	info, err := files.Stat(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", fabric.Escape(path))
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory", fabric.Escape(path))
	}
	return files.Regular(ctx, path, files.Tables)
}
