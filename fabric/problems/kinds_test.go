// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
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
