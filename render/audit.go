package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// AuditText writes findings as compilers do, so that editors jump to them.
func AuditText(out io.Writer, findings []analyze.AuditFinding) error {
	w := bufio.NewWriter(out)
	for _, f := range findings {
		fmt.Fprintf(w, "%s:%d: %s: %s\n", oneLine(f.File), f.Line, f.Code, oneLine(f.Message))
	}
	return w.Flush()
}

// AuditMarkdown writes findings as a table.
func AuditMarkdown(out io.Writer, findings []analyze.AuditFinding) error {
	if len(findings) == 0 {
		return nil
	}
	t := &table{}
	t.column("Where", false)
	t.column("Table", true)
	t.column("Finding", false)
	t.column("Severity", false)
	t.column("What", false)
	for _, f := range findings {
		number := ""
		if f.Table > 0 {
			number = strconv.Itoa(f.Table)
		}
		t.rows = append(t.rows, []string{f.File + ":" + strconv.Itoa(f.Line), number, f.Code, string(f.Severity), oneLine(f.Message)})
	}
	d := &document{}
	d.add(t)
	return d.markdown(out)
}

// AuditGitHub writes findings as annotations of a GitHub Actions job.
func AuditGitHub(out io.Writer, findings []analyze.AuditFinding) error {
	level := map[bench.Severity]string{bench.Error: "error", bench.Warning: "warning", bench.Note: "notice"}
	w := bufio.NewWriter(out)
	for _, f := range findings {
		fmt.Fprintf(w, "::%s file=%s,line=%d,title=%s::%s\n", level[f.Severity], property.Replace(f.File), f.Line, property.Replace(f.Code), message.Replace(f.Message))
	}
	return w.Flush()
}

// A workflow command ends at a newline, and its properties at a comma or colon.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// AuditJSON writes findings, and how much was audited.
func AuditJSON(out io.Writer, findings []analyze.AuditFinding, tables, cells int, problems []bench.Problem) error {
	w := jsonWriter{out: bufio.NewWriterSize(out, 64<<10)}
	w.raw(`{"schema":`).string(Schema).raw(",\n\"findings\":[")
	for i, f := range findings {
		w.comma(i).raw("\n").raw(`{"code":`).string(f.Code).raw(`,"severity":`).string(string(f.Severity))
		w.raw(`,"file":`).string(f.File).raw(`,"line":`).int(f.Line).raw(`,"table":`)
		if f.Table > 0 {
			w.int(f.Table)
		} else {
			w.raw("null")
		}
		w.raw(`,"column":`).string(f.Column).raw(`,"message":`).string(f.Message).raw(`,"runs":[`)
		for k, id := range f.Runs {
			w.comma(k).string(id)
		}
		w.raw(`],"fixable":`).raw(strconv.FormatBool(len(f.Edits) > 0)).raw("}")
	}
	w.raw("],\n\"tables\":").int(tables).raw(`,"cells":`).int(cells).raw(",\n\"errors\":[")
	w.problems(problems)
	w.raw("]}\n")
	return w.flush()
}

// oneLine keeps a message on one line of a terminal, whatever is in it.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == 0x2028 || c == 0x2029 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return ' '
		}
		return c
	}, s)
}
