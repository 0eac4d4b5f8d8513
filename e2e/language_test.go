// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// avoided are phrases that CONTRIBUTING.md's rules of language exclude, each with what to write instead.
var avoided = []struct{ phrase, instead string }{
	{
		`(?:says?|tells?|said|told) (?:what|which|whether|where|who|whom|whose|when|why|of)\b`,
		"shows, lists, reports, names",
	},
	{`\b(?:nobody|no one) (?:knows|read|reads|told|watches|asked)\b`, "unknown, not read"},
	{`\banew\b`, "again; recompute, rebuild"},
	{`\bbeside\b`, "next to, together with, in addition to"},
	{`\bon paper\b`, "simulated, in a what-if"},
	{`\bpassed? over\b`, "skipped, ignored"},
	{`\botherwise than\b`, "different from"},
	{`\bcut off\b`, "unreachable; without a path"},
	{`\bin charge\b`, "master"},
	{`\b(?:of|as|like|beside) its like\b`, "similar switches, peers"},
	{`\bleads? nowhere\b`, "leads to no link"},
	{`\b(?:is|are) looked at\b`, "is examined"},
	{`\bheld against\b`, "compared with"},
	{`\bput into words\b`, "written as text"},
	{`\bwhom\b`, "the affected hosts, jobs, pairs"},
	{`\blowest (?:floor|room)\b`, "lowest layer"},
}

// oldName matches a quoted word: names of options and keys, which the phrases do not concern.
var oldName = regexp.MustCompile("`\\w+=?`|^\"\\w+\"$")

// readable returns the text of a file that people read, by line: of Go its comments and strings, of a document all.
func readable(t *testing.T, path string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]string{}
	add := func(first int, text string) {
		for i, line := range strings.Split(text, "\n") {
			lines[first+i] += line + " "
		}
	}
	if filepath.Ext(path) == ".md" {
		add(1, oldName.ReplaceAllString(string(text), ""))
		return lines
	}
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.COMMENT || kind == token.STRING {
			add(files.Position(pos).Line, oldName.ReplaceAllString(literal, ""))
		}
	}
}

// TestLanguage finds phrases in documents and in the comments and texts of the program that a reader has to translate.
// It is a net for the commonest; CONTRIBUTING.md has the rules.
func TestLanguage(t *testing.T) {
	var pattern []string
	for _, a := range avoided {
		pattern = append(pattern, "(?i:"+a.phrase+")")
	}
	any := regexp.MustCompile(strings.Join(pattern, "|"))
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "..") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); d.IsDir() || ext != ".go" && ext != ".md" || d.Name() == "language_test.go" {
			return nil
		}
		for line, text := range readable(t, path) {
			if !any.MatchString(text) {
				continue
			}
			for _, a := range avoided {
				if found := regexp.MustCompile("(?i:" + a.phrase + ")").FindString(text); found != "" {
					t.Errorf("%s:%d: %q: write instead: %s", strings.TrimPrefix(path, "../"), line, found, a.instead)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
