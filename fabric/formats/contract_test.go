// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestEachCase reads every file of the public reports. A file that is no subnet is rejected with the name of its
// format.
func TestEachCase(t *testing.T) {
	root := filepath.Dir(testenv.SharedFile(t, "cases/README"))
	// A file with only the name of a port group has no form of its own.
	rejected := map[string]string{
		"05-partitions-mtu/p.conf": "partitions.conf", "17-rail-conf/nr.conf": "opensm.conf",
		"17-rail-conf/opensm.conf": "opensm.conf", "17-rail-conf/pgrp_policy.conf": "pgrp_policy_file",
		"17-rail-conf/root_guid.conf": "no Switch, Ca or Rt record", "18-conf-names/c.conf": "opensm.conf",
		"18-conf-names/x.lfts": "opensm-lfts.dump", "24-diff/in.txt": "--diff",
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "README" {
			return err
		}
		name, _ := filepath.Rel(root, path)
		seen++
		switch s, err := Read(t.Context(), path); {
		case err == nil && (rejected[name] != "" || len(s.Fabric.Nodes) == 0):
			t.Errorf("%s: read with %d nodes", name, len(s.Fabric.Nodes))
		case err != nil && (rejected[name] == "" || !strings.Contains(err.Error(), rejected[name])):
			t.Errorf("%s: %v, expected %q", name, err, rejected[name])
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d files, %v", seen, err)
	}
}

// known returns all formats that are detected.
func known() (all []format) {
	for _, s := range append(slices.Clone(signatures), comments...) {
		all = append(all, s.format)
	}
	for f := range kinds {
		all = append(all, f)
	}
	for f := range instead {
		all = append(all, f)
	}
	slices.Sort(all)
	return slices.Compact(append(all, cache, archive))
}

var (
	inParentheses = regexp.MustCompile(`\(([^)]*)\)`)
	betweenWords  = regexp.MustCompile(`, | or | and | of `)
)

// TestDocumentedFormats checks that the page "What can I open?" has each format: its programs and files, or its name.
func TestDocumentedFormats(t *testing.T) {
	page, err := os.ReadFile("../../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## What can I open?")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\|.*`).FindAllString(section, -1)
	for _, f := range known() {
		words := betweenWords.Split(string(f), -1)
		if m := inParentheses.FindStringSubmatch(string(f)); m != nil {
			words = betweenWords.Split(m[1], -1)
		}
		for _, w := range words {
			w = strings.ToLower(regexp.MustCompile(`^(of |an? |ibnetdiscover |iblinkinfo )+`).ReplaceAllString(w, ""))
			if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(strings.ToLower(row), w) }) {
				t.Errorf("%q: no row with %q", f, w)
			}
		}
	}
}

// TestFuzzTargets checks that each reader of a format has a fuzz target: an exported function below this folder that
// reads from an io.Reader is called in a file of tests with fuzz targets.
func TestFuzzTargets(t *testing.T) {
	readers := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || !takesReader(f) {
				continue
			}
			if readers++; throughOthers[filepath.Join(filepath.Dir(path), f.Name.Name)] {
				continue
			}
			if !isFuzzed(t, filepath.Dir(path), f.Name.Name) {
				t.Errorf("%s: %s has no fuzz target", path, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil || readers < 20 {
		t.Errorf("%d readers, %v", readers, err)
	}
}

// throughOthers are readers that the fuzz targets of other readers call.
var throughOthers = map[string]bool{"ibnet/ReadOpened": true, "unread/EachLine": true}

func takesReader(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		s, ok := p.Type.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Reader"
	})
}

// isFuzzed reports whether a file of tests in a folder has a fuzz target that calls a function.
func isFuzzed(t *testing.T, folder, name string) bool {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\b` + name + `(\(|,)`)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "\nfunc Fuzz") && call.Match(text)
	})
}
