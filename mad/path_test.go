// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func mustPath(t testing.TB, text string) Path {
	t.Helper()
	p, err := ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPath(t *testing.T) {
	var local Path
	if local.Len() != 0 || local.String() != "0" || local.Parent() != local {
		t.Errorf("the local node is %v with %d hops and parent %v", local, local.Len(), local.Parent())
	}
	p, err := local.Append(1, 5)
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != "0,1,5" || p.Len() != 2 || p.Hop(0) != 1 || p.Hop(1) != 5 {
		t.Errorf("got %v", p)
	}
	if q, err := NewPath(1, 5); err != nil || q != p {
		t.Errorf("NewPath gives %v, %v", q, err)
	}
	q, err := p.Append(7)
	if err != nil || p.String() != "0,1,5" {
		t.Errorf("Append changed %v, or %v", p, err)
	}
	if q.Parent() != p {
		t.Errorf("the parent of %v is %v, want %v (the same in every byte)", q, q.Parent(), p)
	}
}

func TestPathLength(t *testing.T) {
	longest, err := NewPath(bytes.Repeat([]byte{255}, MaxHops)...)
	if err != nil || longest.Len() != MaxHops {
		t.Fatalf("63 hops: %v, %v", longest, err)
	}
	if p := mustPath(t, longest.String()); p != longest {
		t.Errorf("read back %v", p)
	}
	if _, err := longest.Append(1); !errors.Is(err, ErrPath) {
		t.Errorf("64 hops: %v, want %v", err, ErrPath)
	}
	if _, err := ParsePath(longest.String() + ",1"); !errors.Is(err, ErrPath) {
		t.Errorf("64 hops as text: %v, want %v", err, ErrPath)
	}
}

func TestParsePath(t *testing.T) {
	for _, text := range []string{"", "0", "0,1", "0,255,0,17"} {
		if p := mustPath(t, text); p.String() != text && text != "" {
			t.Errorf("%q came back as %q", text, p)
		}
	}
	for _, text := range []string{"1", "1,2", "0,", ",", "0,256", "0,-1", "0, 1", "0,x", "0 1", "0,1,"} {
		if p, err := ParsePath(text); !errors.Is(err, ErrPath) {
			t.Errorf("%q is %v, %v, want %v", text, p, err, ErrPath)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	f.Add("0,1,5")
	f.Add("")
	f.Add("0" + strings.Repeat(",1", 70))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		if again, err := ParsePath(p.String()); err != nil || again != p {
			t.Fatalf("%q is %v, read again %v, %v", text, p, again, err)
		}
	})
}
