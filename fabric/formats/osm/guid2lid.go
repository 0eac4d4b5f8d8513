// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
)

// GUID2LIDFile is the content of OpenSM's file guid2lid.
type GUID2LIDFile struct {
	Table *fabric.GUID2LID
	// Notes lists lines that OpenSM skips or interprets in an unexpected way.
	Notes []FileNote
}

// dbLine is the size of the buffer into which OpenSM reads a line of its database files (osm_db_files.c).
const dbLine = 1024

// ReadGUID2LID reads guid2lid as OpenSM does (osm_db_files.c, osm_db_restore; osm_db_pack.c). A record is a line with a
// port GUID, the first LID of the port and the last LID:
//
//	0x0002c90300000001 0x0004 0x0007
//
// An empty line follows each record. ReadGUID2LID accepts everything that OpenSM accepts, and interprets it in the same
// way. It lists unexpected interpretations in Notes.
//
// If OpenSM refuses a line, ReadGUID2LID returns an error that begins with "name:line:" and the records before the
// line. OpenSM uses these records if exit_on_fatal is FALSE, otherwise it exits. O(bytes).
func ReadGUID2LID(r io.Reader, name string) (*GUID2LIDFile, error) {
	d := dbReader{
		pieces: newPieceReader(r, name, dbLine),
		file:   &GUID2LIDFile{Table: &fabric.GUID2LID{}},
	}
	err := d.read()
	return d.file, err
}

type dbReader struct {
	pieces *pieceReader
	file   *GUID2LIDFile
	// key and value belong to the current record, which begins on line number line.
	inRecord bool
	key      string
	value    []byte
	line     int
	// more is the number of lines of the record after its first line.
	more int
}

func (d *dbReader) read() error {
	for {
		piece, err := d.pieces.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := d.parse(piece); err != nil {
			return fmt.Errorf("%s:%d: %w", d.pieces.name, d.pieces.line, err)
		}
	}
	d.end()
	return nil
}

func (d *dbReader) parse(piece string) error {
	if d.pieces.rest {
		d.note(d.pieces.line, "the line is longer than %d bytes; OpenSM reads the rest as a separate line", dbLine-1)
	}
	switch {
	case d.inRecord && strings.HasPrefix(piece, "\n"):
		d.end()
	case d.inRecord:
		d.value = append(d.value, piece...)
		d.more++
	case strings.HasPrefix(piece, "\n"):
	case strings.HasPrefix(piece, " ") || strings.HasPrefix(piece, "\t"):
		return fmt.Errorf("%q begins with space, expected 0xGUID 0xLID 0xLID or an empty line (ERR 6105)",
			shorten([]byte(piece)))
	default:
		return d.begin(piece)
	}
	return nil
}

func (d *dbReader) begin(piece string) error {
	piece, _, _ = strings.Cut(piece, "\n")
	key, value := piece, ""
	if i := strings.IndexAny(piece, " \t"); i >= 0 {
		key, value = piece[:i], piece[i+1:]
	}
	if key == "" {
		return fmt.Errorf("a NUL byte, expected 0xGUID 0xLID 0xLID (ERR 6104)")
	}
	d.inRecord, d.key, d.value = true, key, append(d.value[:0], value...)
	d.line, d.more = d.pieces.line, 0
	return nil
}

// end ends the current record at an empty line or at the end of the file, and adds it to the table.
func (d *dbReader) end() {
	if !d.inRecord {
		return
	}
	d.inRecord = false
	rec := fabric.GUIDRecord{Key: d.key, Value: string(d.value)}
	var rest string
	rec.GUID, rest, _ = cUnsigned(d.key)
	if rec.GUID == 0 && rest != "" {
		d.note(d.line, "%q is not a GUID; OpenSM skips the record (ERR 610B)", shorten([]byte(d.key)))
		return
	}
	rec.LIDs, rec.Readable = unpackLIDs(rec.Value)
	if !d.file.Table.Add(rec) {
		d.note(d.line, "%s occurs earlier in the file; OpenSM skips this record (ERR 6106)",
			shorten([]byte(d.key)))
		return
	}
	d.check(rec)
}

// check notes interpretations of a record that the author of the file may not expect.
func (d *dbReader) check(rec fabric.GUIDRecord) {
	if d.more > 0 {
		d.note(d.line, "no empty line after the record; OpenSM reads %d more lines as part of it", d.more)
	}
	if !rec.Readable {
		d.note(d.line, "%q is not a pair of unicast LIDs, expected text like 0x0004 0x0007; OpenSM skips the record "+
			"and keeps it in the file", shorten(d.value))
		return
	}
	if want := fmt.Sprintf("0x%016x", rec.GUID); rec.Key != want {
		d.note(d.line, "OpenSM searches for %s, which does not match %q", want, shorten([]byte(rec.Key)))
	}
}

func (d *dbReader) note(line int, format string, args ...any) {
	d.file.Notes = append(d.file.Notes, FileNote{d.pieces.name, line, fmt.Sprintf(format, args...)})
}

// maxPackedLIDs is the maximum number of bytes of a value that OpenSM parses.
const maxPackedLIDs = 23

// unpackLIDs parses a pair of LIDs like OpenSM (osm_db_pack.c). A word that does not begin with a digit counts as LID
// 0.
func unpackLIDs(value string) (r fabric.LIDRange, ok bool) {
	words := strings.FieldsFunc(value[:min(len(value), maxPackedLIDs)], func(c rune) bool {
		return c == ' ' || c == '\t'
	})
	if len(words) < 2 {
		return r, false
	}
	low, _, _ := cUnsigned(words[0])
	high, _, _ := cUnsigned(words[1])
	if low > fabric.MaxUnicastLID || high > fabric.MaxUnicastLID {
		return r, false
	}
	return fabric.LIDRange{Min: uint16(low), Max: uint16(high)}, true
}

// WriteGUID2LID writes guid2lid as OpenSM does (osm_db_files.c, osm_db_store).
func WriteGUID2LID(w io.Writer, t *fabric.GUID2LID) error {
	b := bufio.NewWriter(w)
	for r := range t.Records() {
		fmt.Fprintf(b, "%s %s\n\n", r.Key, r.Value)
	}
	return flush(b, "guid2lid")
}
