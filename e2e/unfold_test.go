// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // to put a bomb into a history

	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/gen"
)

// refusesBomb reads a file, which must be rejected with a given message, in less memory than mb.
func refusesBomb(t *testing.T, what, words, file, must string, mb int64) {
	t.Helper()
	cmd, out := reading(t, words, file)
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(out.String(), must) ||
		memory(cmd) > memoryLimit(t, mb) {
		t.Errorf("%s, %q: %v, %d MB, %.500s", what, words, err, memory(cmd), out)
	}
}

// TestTooLarge makes every reader read a sparse file of zeros that is larger than any permitted one.
func TestTooLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "zeros")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 17<<30); err != nil {
		t.Fatal(err)
	}
	for _, words := range readers {
		refusesBomb(t, "17 GB", words, file, " MB, the limit of a", 200)
	}
}

// TestSnapshotBomb reads small snapshots that declare or contain too much data: 1 GB of zeros.
func TestSnapshotBomb(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	fabric := snapshot.EncodeFabric(f)
	sized := func(name string, n int) []byte {
		return binary.AppendUvarint(append(binary.AppendUvarint(nil, uint64(len(name))), name...), uint64(n))
	}
	good := append(sized("fabric", len(fabric)), fabric...)
	const huge = 6 << 30
	for name, head := range map[string][]byte{
		"a fabric": sized("fabric", huge), "tables": append(slices.Clip(good), sized("lft", huge)...),
		"a name":             binary.AppendUvarint(nil, huge),
		"an unknown section": append(slices.Clip(good), sized("x", huge)...), "nothing": nil,
	} {
		file := filepath.Join(t.TempDir(), "bomb")
		to, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(to, snapshot.Magic)
		if err := errors.Join(zeros(to, head, 1<<30), to.Close()); err != nil {
			t.Fatal(err)
		}
		refusesBomb(t, name, "-s file:FILE -c show", file, file+": snapshot: ", 500)
	}
}

// zeros returns head and a number of zeros, compressed.
func zeros(to io.Writer, head []byte, n int) error {
	z, err := zstd.NewWriter(to)
	if err != nil {
		return err
	}
	_, err = z.Write(head)
	part := make([]byte, 1<<20)
	for range n >> 20 {
		if err == nil {
			_, err = z.Write(part)
		}
	}
	return errors.Join(err, z.Close())
}

// TestHistoryBomb imports a history in which every piece expands to 6 GB of zeros.
func TestHistoryBomb(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	// this keeps a history, unlike a script of a simulated subnet
	cmd, out := reading(t, "-s sim:fattree:2,4 shell", "")
	cmd.Stdin = strings.NewReader("route\nwrite on\ncommit yes\nhistory export " + file + "\n")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var packed strings.Builder
	if err := zeros(&packed, nil, 6<<30); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("UPDATE blob SET data = ?", packed.String())
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	refusesBomb(t, "6 GB of zeros", "-c history\x00import\x00FILE", file, ": blob ", 400)
}
