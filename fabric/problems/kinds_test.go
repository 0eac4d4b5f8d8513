// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// TestKindsAreInTheTable checks that each constant of type Kind has a row.
func TestKindsAreInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "problems.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Kind" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if rank, _ := Kind(text).row(); rank == len(table) {
			t.Errorf("%s has no row", spec.Names[0])
		}
		n++
		return true
	})
	if n != len(table) {
		t.Errorf("%d kinds, %d rows", n, len(table))
	}
}

// TestHintsOfUnanswered checks that the M_Key is not suspected for a node that no directed route can reach.
func TestHintsOfUnanswered(t *testing.T) {
	_, far := mad.Path{}.Append(make([]uint8, 64)...)
	for _, c := range []struct {
		err  error
		want string
	}{{mad.ErrTimeout, "M_Key"}, {far, "63 links"}} {
		var r Report
		r.Answers([]sweep.Unanswered{{Node: "sw", Port: 1, Attr: mad.AttrNodeInfo, Count: 1, Err: c.err}}, nil)
		try := r.Problems[0].Try
		if !strings.Contains(try, c.want) || strings.Contains(try, "M_Key") != (c.err != far) {
			t.Errorf("%v: %s, want %s", c.err, try, c.want)
		}
	}
}
