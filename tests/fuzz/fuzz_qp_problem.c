/* Any bytes as a problem file; small ones that parse are solved, within a budget. */
#include <stdint.h>
#include <stdlib.h>

#include "solver/qp_contacts.h"
#include "solver/qp_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve_program(const qp_problem *problem)
{
    qp_program p = {.n = problem->n,
                    .m = problem->m,
                    .q = problem->q,
                    .low = problem->low,
                    .high = problem->high};
    qp_answer a = {0};
    if (qp_sparse_symmetric(&problem->p, &p.p) &&
        qp_sparse_from_triplets(&problem->a, false, &p.a) &&
        qp_program_solve(&p, (qp_program_limits){.iterations = 200, .time_ns = 50000000}, &a) ==
            HR_OK &&
        a.status == QP_OPTIMAL && a.objective != a.objective)
        abort(); /* optimal, but not a number */
    qp_answer_free(&a);
    qp_sparse_free(&p.p);
    qp_sparse_free(&p.a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_problem problem;
    hr_error error;
    if (qp_problem_parse((const char *)data, size, "fuzz", &problem, &error) != HR_OK)
        return 0;
    if (problem.kind == QP_PROBLEM_PROGRAM) {
        if (problem.n <= 40 && problem.m <= 80)
            solve_program(&problem);
    } else if (problem.n <= 60 && problem.contacts <= 20) {
        for (int friction = 0; friction < 2; friction++) {
            qp_contact_answer a;
            hr_status status = qp_contacts_solve(
                &problem,
                (qp_contact_options){.has_friction = friction, .passes = 3, .iterations = 200}, &a);
            (void)status;
            qp_contact_answer_free(&a);
        }
    }
    qp_problem_free(&problem);
    return 0;
}
