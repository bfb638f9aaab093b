// Answers for each line of the input, a JSON list of a CODEOWNERS pattern and a path: 1 if the pattern matches the path,
// 0 if not, x if the pattern is not valid.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/hmarr/codeowners"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for input.Scan() {
		var pair [2]string
		if err := json.Unmarshal(input.Bytes(), &pair); err != nil {
			panic(err)
		}
		fmt.Fprint(output, answer(pair[0], pair[1]))
	}
}

func answer(pattern, path string) string {
	rules, err := codeowners.ParseFile(strings.NewReader(pattern + " @owner\n"))
	if err != nil {
		return "x"
	}
	rule, err := rules.Match(path)
	if err != nil {
		return "x"
	}
	if rule == nil {
		return "0"
	}
	return "1"
}
