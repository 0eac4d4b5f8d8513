// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
)

// large returns a fat-tree with 11,664 adapters and 1,620 switches.
func large(b *testing.B) *fabric.Fabric {
	b.Helper()
	f, err := gen.ParseSpec("fattree:3,36")
	if err != nil {
		b.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		b.Fatal(err)
	}
	return f
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	if err := Write(&text, large(b), WriteOptions{}); err != nil {
		b.Fatal(err)
	}
	for name, reading := range map[string]Reading{"by ibsim's rules": AsIbsim, "as stated": AsStated} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := Read(context.Background(), strings.NewReader(text.String()), "net",
					Options{Reading: reading}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	f := large(b)
	for b.Loop() {
		if err := Write(io.Discard, f, WriteOptions{Generated: time.Now()}); err != nil {
			b.Fatal(err)
		}
	}
}
