// SPDX-License-Identifier: Apache-2.0

// Command size prints how large the parts of the program are, and fails if a figure exceeds its limit in limits.txt.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	module     = "example.org/ibconsole/"
	limitsFile = "scripts/size/limits.txt"
)

// counts holds the figures of one package.
type counts struct {
	lines, code, files int
	imports            map[string]bool // of the module
	methods, exported  map[string]int  // by type
	fields             map[string]int  // by struct
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run() error {
	packages := map[string]*counts{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		dir := path.Dir(filepath.ToSlash(file))
		c := packages[dir]
		if c == nil {
			c = &counts{imports: map[string]bool{}, methods: map[string]int{}, exported: map[string]int{},
				fields: map[string]int{}}
			packages[dir] = c
		}
		return c.add(file)
	})
	if err != nil {
		return err
	}
	figures := figuresOf(packages)
	limits, err := readLimits(limitsFile)
	if err != nil {
		return err
	}
	return report(figures, limits)
}

// add counts a file.
func (c *counts) add(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	c.files++
	c.lines += strings.Count(string(text), "\n")
	c.code += codeLines(fset, f, text)
	for _, i := range f.Imports {
		if name, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ok {
			c.imports[name] = true
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				name := receiver(d.Recv.List[0].Type)
				c.methods[name]++
				if d.Name.IsExported() {
					c.exported[name]++
				}
			}
		case *ast.GenDecl:
			c.structs(d)
		}
	}
	return nil
}

func (c *counts) structs(d *ast.GenDecl) {
	for _, s := range d.Specs {
		t, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		if s, ok := t.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				c.fields[t.Name.Name] += max(1, len(f.Names))
			}
		}
	}
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// codeLines counts the lines that contain more than comments and belong to no import.
func codeLines(fset *token.FileSet, f *ast.File, text []byte) int {
	lines := map[int]bool{}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		for line := first; line <= first+strings.Count(lit, "\n"); line++ {
			lines[line] = true
		}
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for line := fset.Position(g.Pos()).Line; line <= fset.Position(g.End()).Line; line++ {
				delete(lines, line)
			}
		}
	}
	return len(lines)
}

// figure is a number with its name in limits.txt.
type figure struct {
	name  string
	value int
}

// figuresOf returns all figures, grouped by kind.
func figuresOf(packages map[string]*counts) []figure {
	var lines, code, files int
	layers := map[string]int{}
	var large []figure
	for dir, c := range packages {
		lines, code, files = lines+c.lines, code+c.code, files+c.files
		layer, _, _ := strings.Cut(dir, "/")
		layers[layer] += c.lines
		if n := len(c.imports); n > 20 {
			large = append(large, figure{"imports " + dir, n})
		}
		for name, n := range c.methods {
			if n >= 40 {
				large = append(large, figure{"methods " + dir + "." + name, n},
					figure{"exported-methods " + dir + "." + name, c.exported[name]})
			}
		}
		for name, n := range c.fields {
			if n >= 25 && (strings.HasPrefix(dir, "shell") || strings.HasPrefix(dir, "tui")) {
				large = append(large, figure{"fields " + dir + "." + name, n})
			}
		}
	}
	out := []figure{{"lines", lines}, {"code-lines", code}, {"files", files}, {"packages", len(packages)}}
	if c := packages["shell/session"]; c != nil {
		out = append(out, figure{"lines shell/session", c.lines})
	}
	var perLayer []figure
	for layer, n := range layers {
		perLayer = append(perLayer, figure{"layer-lines " + layer, n})
	}
	byName := func(a, b figure) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(perLayer, byName)
	slices.SortFunc(large, byName)
	return slices.Concat(out, perLayer, large)
}

// readLimits reads lines of NAME... NUMBER. A comment starts with #.
func readLimits(file string) (map[string]int, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	limits := map[string]int{}
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		line, _, _ := strings.Cut(s.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			return nil, fmt.Errorf("%s:%d: expected NAME NUMBER", file, n)
		}
		limit, err := strconv.Atoi(line[at+1:])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		limits[strings.TrimSpace(line[:at])] = limit
	}
	return limits, s.Err()
}

// report prints the figures next to their limits. Imports, methods and fields without a limit of their own are limited
// by "KIND *".
func report(figures []figure, limits map[string]int) error {
	exceeded := 0
	for _, f := range figures {
		limit, limited := limits[f.name]
		kind, _, _ := strings.Cut(f.name, " ")
		if !limited {
			limit, limited = limits[kind+" *"]
		}
		switch {
		case !limited:
			fmt.Printf("%-60s %7d\n", f.name, f.value)
		case f.value > limit:
			exceeded++
			fmt.Printf("%-60s %7d  EXCEEDS %d\n", f.name, f.value, limit)
		default:
			fmt.Printf("%-60s %7d  of %d\n", f.name, f.value, limit)
		}
	}
	if exceeded > 0 {
		return fmt.Errorf("%d figures exceed the limits in %s", exceeded, limitsFile)
	}
	return nil
}
